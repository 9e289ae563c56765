// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/section.hpp"
#include "transport/transport.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

namespace chorus {

/// Sections in working memory of a transport: a list that a call needs and that is not allocated anew each time.
class SectionList {
 public:
  SectionList(Transport& transport, std::size_t count)
      : memory_(transport.scratch(count * sizeof(Section))), count_(count) {
    std::uninitialized_default_construct_n(sections(), count);
  }
  operator std::span<const Section>() const noexcept {  // NOLINT(google-explicit-constructor): it is one
    return {sections(), count_};
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] Section& operator[](std::size_t index) noexcept { return sections()[index]; }
  [[nodiscard]] const Section& operator[](std::size_t index) const noexcept { return sections()[index]; }
  void fill(const Section& section) noexcept { std::fill_n(sections(), count_, section); }

 private:
  [[nodiscard]] Section* sections() const noexcept { return reinterpret_cast<Section*>(memory_.data()); }

  Scratch memory_;
  std::size_t count_;
};

}  // namespace chorus
