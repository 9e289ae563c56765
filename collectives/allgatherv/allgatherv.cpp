// SPDX-License-Identifier: Apache-2.0
#include <chorus/allgatherv.hpp>

#include "door.hpp"
#include "section_table.hpp"

#include <algorithm>
#include <memory>

namespace chorus::detail {
namespace {

constexpr Collective collective = Collective::allgatherv;

Arguments checked(const SectionTable& table, CommunicatorState& state, const Buffers& buffers,
                  const BlockLayout& blocks) {
  const auto me = static_cast<std::size_t>(state.rank());
  const bool in_place = is_in_place(buffers);
  check_lengths(state, collective, buffers);
  const std::size_t all =
      lay_out(state, collective, {blocks, "blocks", buffers.out_count, buffers.element_bytes}, true, table.out());
  const Section mine = in_place ? table.out()[me] : Section{0, buffers.in_count * buffers.element_bytes};
  check_counts(state, collective, buffers, mine.bytes == table.out()[me].bytes,
               "in has as many as the block of this rank in argument blocks");
  if (!in_place) check_overlap(state, collective, buffers);
  std::ranges::fill(table.in(), mine);
  Arguments arguments = arguments_of(state, collective, buffers, all);
  arguments.call.root = number_of_counts(blocks.counts);
  table.put_into(arguments);
  return arguments;
}

}  // namespace

void allgatherv(const Communicator& comm, const Buffers& buffers, const BlockLayout& blocks,
                const CollectiveOptions& options) {
  const SectionTable table(comm.state());
  complete(comm.state(), checked(table, comm.state(), buffers, blocks), options);
}

Request iallgatherv(const Communicator& comm, const Buffers& buffers, const BlockLayout& blocks,
                    const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return start(comm, checked(sections->table, comm.state(), buffers, blocks), options, sections);
}

PersistentRequest allgatherv_init(const Communicator& comm, const Buffers& buffers, const BlockLayout& blocks,
                                  const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return prepare(comm, checked(sections->table, comm.state(), buffers, blocks), options, sections);
}

}  // namespace chorus::detail
