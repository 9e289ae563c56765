// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/block_layout.hpp>
#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace chorus {

/// The sections of one call (sections.hpp), while it runs.
class SectionTable {
 public:
  /// All empty.
  explicit SectionTable(detail::CommunicatorState& state) : ranks_(static_cast<std::size_t>(state.size())) {
    if (ranks_ > few_ranks) many_.emplace(state.caller_scratch(2 * ranks_ * sizeof(Section)));
    sections_ = reinterpret_cast<Section*>(many_ ? many_->data() : few_);
    std::fill_n(sections_, 2 * ranks_, Section());
  }
  SectionTable(const SectionTable&) = delete;
  SectionTable& operator=(const SectionTable&) = delete;

  [[nodiscard]] std::span<Section> in() const noexcept { return {sections_, ranks_}; }
  [[nodiscard]] std::span<Section> out() const noexcept { return {sections_ + ranks_, ranks_}; }
  void put_into(Arguments& arguments) const noexcept {
    arguments.in_sections = in();
    arguments.out_sections = out();
  }

 private:
  static constexpr std::size_t few_ranks = 8;

  std::size_t ranks_;
  alignas(Section) std::byte few_[2 * few_ranks * sizeof(Section)];  // for few ranks, where it is faster
  std::optional<Scratch> many_;
  Section* sections_;
};

/// Those of a call that runs on after its door has returned.
struct LastingSections {
  /// `function` is kept, too.
  explicit LastingSections(const Communicator& comm, std::shared_ptr<const void> function = nullptr)
      : comm(comm), function(std::move(function)), table(comm.state()) {}

  Communicator comm;  // outlives the table's memory, which is its
  std::shared_ptr<const void> function;
  SectionTable table;
};

/// A layout and the buffer that it is of, as the arguments of a call.
struct LaidOut {
  const BlockLayout& layout;
  std::string_view name;     ///< of the argument
  std::size_t elements = 0;  ///< of the buffer
  std::size_t element_bytes = 1;
};

/// Fills `sections` with the blocks of a layout, and gives how many elements these are together.
/// Throws Error{invalid_argument} naming the argument where it has not one block a rank, or a block leaves the buffer,
/// or, where the buffer is `written`, two blocks overlap.
std::size_t lay_out(detail::CommunicatorState& state, Collective collective, const LaidOut& blocks, bool written,
                    std::span<Section> sections);

/// For Call::root, where `counts_are_known`: the same for the same counts, and almost surely different for others.
[[nodiscard]] int number_of_counts(std::span<const std::size_t> counts) noexcept;

/// The arguments of gatherv or scatterv, checked: `blocks` is the layout of the root's buffer for all ranks.
[[nodiscard]] Arguments checked_with_root(const SectionTable& table, detail::CommunicatorState& state,
                                          Collective collective, const detail::Buffers& buffers,
                                          const BlockLayout& blocks, int root);

}  // namespace chorus
