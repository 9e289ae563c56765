// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace chorus {
struct GradientOptions;
}  // namespace chorus

namespace chorus::detail {

/// Stands for how `options` clip; most often another number for another norm, and 0 where they do not.
[[nodiscard]] std::uint8_t clipping_number(const GradientOptions& options);
/// What it says in messages, "clipped before the reduction, ..."; empty for 0.
[[nodiscard]] std::string clipping_text(std::uint8_t number);

}  // namespace chorus::detail
