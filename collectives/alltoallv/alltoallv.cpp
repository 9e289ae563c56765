// SPDX-License-Identifier: Apache-2.0
#include <chorus/alltoallv.hpp>

#include "door.hpp"
#include "section_table.hpp"

#include <algorithm>
#include <memory>

namespace chorus::detail {
namespace {

constexpr Collective collective = Collective::alltoallv;

Arguments checked(const SectionTable& table, CommunicatorState& state, const Buffers& buffers,
                  const BlockLayout& in_blocks, const BlockLayout& out_blocks) {
  const auto me = static_cast<std::size_t>(state.rank());
  const bool in_place = is_in_place(buffers);
  check_lengths(state, collective, buffers);
  lay_out(state, collective, {in_blocks, "in_blocks", buffers.in_count, buffers.element_bytes}, in_place, table.in());
  lay_out(state, collective, {out_blocks, "out_blocks", buffers.out_count, buffers.element_bytes}, true, table.out());
  if (in_place && !std::ranges::equal(table.in(), table.out())) {
    reject(state, collective, "arguments in_blocks and out_blocks differ in place; pass the same layout for both");
  }
  if (table.in()[me].bytes != table.out()[me].bytes) {
    reject(state, collective,
           "what this rank gives itself differs in in_blocks and out_blocks; give both the same count");
  }
  if (!in_place) check_overlap(state, collective, buffers);
  Arguments arguments = arguments_of(state, collective, buffers, 0);
  table.put_into(arguments);
  return arguments;
}

}  // namespace

void alltoallv(const Communicator& comm, const Buffers& buffers, const BlockLayout& in_blocks,
               const BlockLayout& out_blocks, const CollectiveOptions& options) {
  const SectionTable table(comm.state());
  complete(comm.state(), checked(table, comm.state(), buffers, in_blocks, out_blocks), options);
}

Request ialltoallv(const Communicator& comm, const Buffers& buffers, const BlockLayout& in_blocks,
                   const BlockLayout& out_blocks, const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return start(comm, checked(sections->table, comm.state(), buffers, in_blocks, out_blocks), options, sections);
}

PersistentRequest alltoallv_init(const Communicator& comm, const Buffers& buffers, const BlockLayout& in_blocks,
                                 const BlockLayout& out_blocks, const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return prepare(comm, checked(sections->table, comm.state(), buffers, in_blocks, out_blocks), options, sections);
}

}  // namespace chorus::detail
