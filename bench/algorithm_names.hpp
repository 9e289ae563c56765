// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace chorus::bench {

/// The algorithms of a collective of the benchmark's table that work on such memory, in the order in which the library
/// lists them.
[[nodiscard]] std::vector<std::string_view> algorithm_names(std::string_view collective,
                                                            chorus::Memory memory = chorus::Memory::host);

/// Every collective of the library with its algorithms, each on a line with what it does.
[[nodiscard]] std::string listing();

}  // namespace chorus::bench
