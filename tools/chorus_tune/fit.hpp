// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "link_model.hpp"

#include <span>

namespace chorus::tune {

/// What a message took.
struct Timing {
  double bytes = 0;
  double us = 0;
};

/// The link that `timings`, in the order of their bytes and three or more, are nearest to, in proportion: one line, or
/// two where messages from some length on take another way and one line is far off. By no such link a longer message
/// takes less than a shorter one.
[[nodiscard]] MessageLink fit(std::span<const Timing> timings);

/// Of a latency, what a message takes beside another one under way (LinkModel::further_message): from what one message
/// takes, and three at a time.
[[nodiscard]] double share_of_further_message(double one_us, double three_us);

}  // namespace chorus::tune
