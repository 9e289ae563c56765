// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "topology/binding.hpp"

namespace chorus::info {

/// As Linux writes them: "0-3,8,10-11"; empty for none.
[[nodiscard]] std::string cpu_list(const PuSet& pus);

/// The reverse; none where `list` is no such list.
[[nodiscard]] std::optional<PuSet> parse_cpu_list(std::string_view list);

/// For people: "6 7", "0-3 8".
[[nodiscard]] std::string readable(const PuSet& pus);

}  // namespace chorus::info
