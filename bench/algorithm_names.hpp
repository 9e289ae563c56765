// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"

#include <chorus/communicator.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace chorus::bench {

/// The algorithms of a collective of the benchmark's table that work on such memory, in the order in which the library
/// lists them.
[[nodiscard]] std::vector<std::string_view> algorithm_names(std::string_view collective,
                                                            chorus::Memory memory = chorus::Memory::host);

/// The algorithm that `world` remembers to have chosen, where it has made one choice since its choices were emptied.
/// Empty where it has made none: a call on a device that has no elements ends before.
[[nodiscard]] std::string_view chosen_algorithm(const Communicator& world);

/// Every collective of the library with its algorithms, each on a line with what it does.
[[nodiscard]] std::string listing();

}  // namespace chorus::bench
