// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "survey.hpp"

namespace chorus::info {

/// Raised when a reader of the report would have to change.
inline constexpr int report_schema = 1;

/// A machine as {"allowed": PUs, "here": boolean, "machine": object}; PUs are lists as Linux writes them ("0-3,8"), an
/// object is {"kind", "index", "os_index", "bytes", "name", "pus", "children"} without what is unknown or empty.
[[nodiscard]] nlohmann::json to_json(const Topology& topology);

/// The reverse. Throws Error{invalid_argument} where `json` is no such description.
[[nodiscard]] Topology topology_from_json(const nlohmann::json& json);

/// All of it: {"schema", "machines", "hosts", "ranks", "splits"}.
[[nodiscard]] nlohmann::json report_json(const Survey& survey);

}  // namespace chorus::info
