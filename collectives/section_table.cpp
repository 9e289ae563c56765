// SPDX-License-Identifier: Apache-2.0
#include "section_table.hpp"

#include "door.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace chorus {
namespace {

[[noreturn]] void reject(const detail::CommunicatorState& state, Collective collective, const LaidOut& blocks,
                         const std::string& what) {
  chorus::reject(state, collective, fmt::format("argument {}{}", blocks.name, what));
}

void check_apart(const detail::CommunicatorState& state, Collective collective, const LaidOut& blocks,
                 std::span<const Section> sections) {
  std::vector<Section> sorted(sections.begin(), sections.end());
  std::erase_if(sorted, [](const Section& section) { return section.bytes == 0; });
  std::ranges::sort(sorted, {}, &Section::offset);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1].offset + sorted[i - 1].bytes <= sorted[i].offset) continue;
    reject(state, collective, blocks,
           fmt::format(": two blocks overlap at element {}; set their displacements apart",
                       sorted[i].offset / blocks.element_bytes));
  }
}

}  // namespace

SectionTable::SectionTable(const Communicator& comm, std::shared_ptr<const void> function)
    : comm_(comm),
      function_(std::move(function)),
      ranks_(static_cast<std::size_t>(comm.size())),
      memory_(comm.state().transport().scratch(2 * ranks_ * sizeof(Section))),
      sections_(reinterpret_cast<Section*>(memory_.data()), 2 * ranks_) {
  std::ranges::fill(sections_, Section());
}

void lay_out(const detail::CommunicatorState& state, Collective collective, const LaidOut& blocks, bool written,
             std::span<Section> sections) {
  const auto [counts, displacements] = blocks.layout;
  if (counts.size() != sections.size() || (!displacements.empty() && displacements.size() != sections.size())) {
    reject(state, collective, blocks,
           fmt::format(" has {} counts and {} displacements; give one for each of the {} ranks, or no displacements",
                       counts.size(), displacements.size(), sections.size()));
  }
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < sections.size(); ++rank) {
    const std::size_t begin = displacements.empty() ? next : displacements[rank];
    if (begin > blocks.elements || counts[rank] > blocks.elements - begin) {
      reject(state, collective, blocks,
             fmt::format(": the block of rank {}, {} elements from element {} on, leaves the buffer of {} elements",
                         rank, counts[rank], begin, blocks.elements));
    }
    sections[rank] = {begin * blocks.element_bytes, counts[rank] * blocks.element_bytes};
    next = begin + counts[rank];
  }
  if (written && !displacements.empty()) check_apart(state, collective, blocks, sections);
}

}  // namespace chorus
