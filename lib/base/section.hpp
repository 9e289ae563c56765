// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace chorus {

/// A part of a buffer, in bytes.
struct Section {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  friend bool operator==(const Section&, const Section&) = default;
};

}  // namespace chorus
