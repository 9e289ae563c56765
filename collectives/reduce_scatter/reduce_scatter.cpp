// SPDX-License-Identifier: Apache-2.0
#include <chorus/reduce_scatter.hpp>

#include "door.hpp"
#include "section_table.hpp"

#include <algorithm>
#include <memory>

namespace chorus::detail {
namespace {

constexpr Collective collective = Collective::reduce_scatter;

Arguments checked(const SectionTable& table, CommunicatorState& state, const Buffers& buffers,
                  std::span<const std::size_t> counts, const Operation& operation) {
  check_op(state, collective, buffers.type, operation);
  const auto me = static_cast<std::size_t>(state.rank());
  const bool in_place = is_in_place(buffers);
  const BlockLayout blocks(counts);
  check_lengths(state, collective, buffers);
  const std::size_t all =
      lay_out(state, collective, {blocks, "counts", buffers.in_count, buffers.element_bytes}, false, table.in());
  check_counts(state, collective, buffers, buffers.in_count == all && (in_place || buffers.out_count == counts[me]),
               "in has the sum of argument counts, out the count of this rank");
  if (!in_place) check_overlap(state, collective, buffers);
  table.out()[me] = {0, counts[me] * buffers.element_bytes};
  Arguments arguments = arguments_of(state, collective, buffers, all, operation);
  arguments.call.root = number_of_counts(counts);
  table.put_into(arguments);
  return arguments;
}

}  // namespace

void reduce_scatter(const Communicator& comm, const Buffers& buffers, std::span<const std::size_t> counts,
                    const Operation& operation, const CollectiveOptions& options) {
  const SectionTable table(comm.state());
  complete(comm.state(), checked(table, comm.state(), buffers, counts, operation), options);
}

Request ireduce_scatter(const Communicator& comm, const Buffers& buffers, std::span<const std::size_t> counts,
                        const Operation& operation, const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm, operation.owner);
  return start(comm, checked(sections->table, comm.state(), buffers, counts, operation), options, sections);
}

PersistentRequest reduce_scatter_init(const Communicator& comm, const Buffers& buffers,
                                      std::span<const std::size_t> counts, const Operation& operation,
                                      const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm, operation.owner);
  return prepare(comm, checked(sections->table, comm.state(), buffers, counts, operation), options, sections);
}

}  // namespace chorus::detail
