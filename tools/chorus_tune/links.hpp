// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "console.hpp"
#include "link_model.hpp"

#include <chorus/communicator.hpp>

namespace chorus::tune {

/// The steps that measure_links shows.
constexpr std::size_t link_steps = 5;

/// The LinkModel of the ranks of `world`: what can be measured of it is, the rest is built in. Called by all ranks,
/// some seconds; each gets the same.
[[nodiscard]] LinkModel measure_links(const Communicator& world, bench::Console& console);

}  // namespace chorus::tune
