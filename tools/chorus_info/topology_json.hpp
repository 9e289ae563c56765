// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "survey.hpp"

namespace chorus::info {

/// Raised when a reader of the report would have to change.
inline constexpr int report_schema = 1;

/// A machine as {"allowed": PUs, "here": boolean, "machine": object}; PUs are lists as Linux writes them ("0-3,8"), an
/// object is {"kind", "index", "os_index", "bytes", "name", "pus", "children"} without what is unknown or empty; a GPU
/// also has {"bus_id", "vendor", "model", "links": [{"gpu", "bytes_per_second"}]}.
[[nodiscard]] nlohmann::json to_json(const Topology& topology);

/// The reverse. Throws Error{invalid_argument} where `json` is no such description.
[[nodiscard]] Topology topology_from_json(const nlohmann::json& json);

/// All of it: {"schema", "machines", "hosts", "ranks", "splits"}. A rank that takes a GPU has "gpu" ({"ordinal",
/// "bus_id", "uuid", "name", "bytes", "distance", "wanted", "visible": how many it sees}), and one that sees not all of
/// them "gpus_seen".
[[nodiscard]] nlohmann::json report_json(const Survey& survey);

}  // namespace chorus::info
