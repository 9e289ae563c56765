// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace chorus::bench {

/// The algorithms of a collective of the benchmark's table, in the order in which the library lists them.
[[nodiscard]] std::vector<std::string_view> algorithm_names(std::string_view collective);

}  // namespace chorus::bench
