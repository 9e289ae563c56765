// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/strategy.hpp>

#include <fmt/format.h>

#include <string>

namespace chorus {

// Strategies in messages.

inline std::string the(const Strategy& strategy) { return fmt::format("the {} strategy", strategy.name()); }

/// `other` in a message that has named `first`: where both are of one kind it says that they are two objects.
inline std::string beside(const Strategy& first, const Strategy& other) {
  if (first.name() != other.name()) return the(other);
  return fmt::format("another {} strategy (a second object of its kind)", other.name());
}

}  // namespace chorus
