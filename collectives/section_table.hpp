// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/block_layout.hpp>
#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>

#include <memory>
#include <span>
#include <string_view>

namespace chorus {

/// The sections of one call (sections.hpp), kept as long as it runs.
class SectionTable {
 public:
  /// All empty. `function` is kept, too.
  explicit SectionTable(const Communicator& comm, std::shared_ptr<const void> function = nullptr);

  [[nodiscard]] std::span<Section> in() const noexcept { return sections_.first(ranks_); }
  [[nodiscard]] std::span<Section> out() const noexcept { return sections_.last(ranks_); }
  /// `arguments` with these sections.
  [[nodiscard]] Arguments with(Arguments arguments) const noexcept {
    arguments.in_sections = in();
    arguments.out_sections = out();
    return arguments;
  }

 private:
  Communicator comm_;  // outlives the memory, which is its
  std::shared_ptr<const void> function_;
  std::size_t ranks_;
  Scratch memory_;
  std::span<Section> sections_;
};

/// A layout and the buffer that it is of, as the arguments of a call.
struct LaidOut {
  const BlockLayout& layout;
  std::string_view name;     ///< of the argument
  std::size_t elements = 0;  ///< of the buffer
  std::size_t element_bytes = 1;
};

/// Fills `sections` with the blocks of a layout.
/// Throws Error{invalid_argument} naming the argument where it has not one block a rank, or a block leaves the buffer,
/// or, where the buffer is `written`, two blocks overlap.
void lay_out(const detail::CommunicatorState& state, Collective collective, const LaidOut& blocks, bool written,
             std::span<Section> sections);

}  // namespace chorus
