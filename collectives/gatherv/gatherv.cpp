// SPDX-License-Identifier: Apache-2.0
#include <chorus/gatherv.hpp>

#include "door.hpp"
#include "section_table.hpp"

#include <algorithm>
#include <memory>

namespace chorus::detail {
namespace {

constexpr Collective collective = Collective::gatherv;

Arguments checked(const SectionTable& table, const CommunicatorState& state, const Buffers& buffers,
                  const BlockLayout& blocks, int root) {
  check_root(state, collective, root);
  const auto me = static_cast<std::size_t>(state.rank());
  const bool is_root = state.rank() == root;
  const bool in_place = is_root && buffers.in == buffers.out && buffers.in_count == buffers.out_count;
  Section mine{0, buffers.in_count * buffers.element_bytes};
  if (is_root) {
    lay_out(state, collective, {blocks, "blocks", buffers.out_count, buffers.element_bytes}, true, table.out());
    if (in_place) mine = table.out()[me];
    check_counts(state, collective, buffers, mine.bytes == table.out()[me].bytes,
                 "in has as many as the block of this rank in argument blocks");
    if (!in_place) check_overlap(state, collective, buffers);
  }
  table.in()[static_cast<std::size_t>(root)] = mine;
  Arguments arguments = arguments_of(collective, buffers, 0, root);
  if (!is_root) arguments.out = nullptr;
  return table.with(arguments);
}

}  // namespace

void gatherv(const Communicator& comm, const Buffers& buffers, const BlockLayout& blocks, int root,
             const CollectiveOptions& options) {
  const SectionTable table(comm);
  complete(comm.state(), checked(table, comm.state(), buffers, blocks, root), options);
}

Request igatherv(const Communicator& comm, const Buffers& buffers, const BlockLayout& blocks, int root,
                 const CollectiveOptions& options) {
  const auto table = std::make_shared<SectionTable>(comm);
  return start(comm, checked(*table, comm.state(), buffers, blocks, root), options, table);
}

PersistentRequest gatherv_init(const Communicator& comm, const Buffers& buffers, const BlockLayout& blocks, int root,
                               const CollectiveOptions& options) {
  const auto table = std::make_shared<SectionTable>(comm);
  return prepare(comm, checked(*table, comm.state(), buffers, blocks, root), options, table);
}

}  // namespace chorus::detail
