// SPDX-License-Identifier: Apache-2.0
#include "section_table.hpp"

#include "base/listed_ranks.hpp"
#include "door.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace chorus {
namespace {

[[noreturn]] void reject(const detail::CommunicatorState& state, Collective collective, const LaidOut& blocks,
                         const std::string& what) {
  chorus::reject(state, collective, fmt::format("argument {}{}", blocks.name, what));
}

/// Sorts only where blocks do not stand in the order of the ranks.
void check_apart(detail::CommunicatorState& state, Collective collective, const LaidOut& blocks,
                 std::span<const Section> sections) {
  const auto overlaps = [](const Section& one, const Section& next) { return one.offset + one.bytes > next.offset; };
  if (std::ranges::adjacent_find(sections, overlaps) == sections.end()) return;
  const Scratch scratch = state.caller_scratch(sections.size_bytes());
  const std::span<Section> sorted(reinterpret_cast<Section*>(scratch.data()), sections.size());
  const auto last =
      std::ranges::copy_if(sections, sorted.begin(), [](const Section& section) { return section.bytes > 0; }).out;
  std::ranges::sort(sorted.begin(), last, {}, &Section::offset);
  const auto found = std::adjacent_find(sorted.begin(), last, overlaps);
  if (found == last) return;
  reject(state, collective, blocks,
         fmt::format(": two blocks overlap at element {}; set their displacements apart",
                     std::next(found)->offset / blocks.element_bytes));
}

}  // namespace

std::size_t lay_out(detail::CommunicatorState& state, Collective collective, const LaidOut& blocks, bool written,
                    std::span<Section> sections) {
  const auto [counts, displacements] = blocks.layout;
  if (counts.size() != sections.size() || (!displacements.empty() && displacements.size() != sections.size())) {
    reject(state, collective, blocks,
           fmt::format(" has {} counts{}; give one for each of the {} ranks", counts.size(),
                       displacements.empty() ? "" : fmt::format(" and {} displacements", displacements.size()),
                       sections.size()));
  }
  std::size_t next = 0;
  std::size_t all = 0;
  for (std::size_t rank = 0; rank < sections.size(); ++rank) {
    const std::size_t begin = displacements.empty() ? next : displacements[rank];
    if (begin > blocks.elements || counts[rank] > blocks.elements - begin) {
      reject(state, collective, blocks,
             fmt::format(": the block of rank {}, {} elements from element {} on, leaves the buffer of {} elements; {}",
                         rank, counts[rank], begin, blocks.elements,
                         is_too_long(begin | counts[rank], 1) ? "was a negative number converted?"
                                                              : "make the buffer longer, or the block shorter"));
    }
    sections[rank] = {begin * blocks.element_bytes, counts[rank] * blocks.element_bytes};
    next = begin + counts[rank];
    all += counts[rank];
  }
  if (written && !displacements.empty()) check_apart(state, collective, blocks, sections);
  return all;
}

int number_of_counts(std::span<const std::size_t> counts) noexcept {
  return static_cast<int>(checksum_of(counts) >> 32U);
}

Arguments checked_with_root(const SectionTable& table, detail::CommunicatorState& state, Collective collective,
                            const detail::Buffers& buffers, const BlockLayout& blocks, int root) {
  check_root(state, collective, root);
  const auto me = static_cast<std::size_t>(state.rank());
  const bool is_root = state.rank() == root;
  const bool gathers = collective == Collective::gatherv;
  const std::span<Section> all = gathers ? table.out() : table.in();
  Section mine{0, (gathers ? buffers.in_count : buffers.out_count) * buffers.element_bytes};
  if (is_root) {
    check_lengths(state, collective, buffers);
    const std::size_t elements = gathers ? buffers.out_count : buffers.in_count;
    lay_out(state, collective, {blocks, "blocks", elements, buffers.element_bytes}, gathers, all);
    const bool in_place = is_in_place(buffers);
    if (in_place) mine = all[me];
    check_counts(state, collective, buffers, mine.bytes == all[me].bytes,
                 gathers ? "in has as many as the block of this rank in argument blocks"
                         : "out has as many as the block of this rank in argument blocks");
    if (!in_place) check_overlap(state, collective, buffers);
  }
  (gathers ? table.in() : table.out())[static_cast<std::size_t>(root)] = mine;
  Arguments arguments = arguments_of(state, collective, buffers, 0, root);
  if (!is_root && gathers) arguments.out = nullptr;
  if (!is_root && !gathers) arguments.in = nullptr;
  table.put_into(arguments);
  return arguments;
}

}  // namespace chorus
