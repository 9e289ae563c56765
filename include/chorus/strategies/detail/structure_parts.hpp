// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <cstdint>
#include <string>
#include <vector>

// What the numbers of structures stand for, as far as this process has met them lately: for messages.
namespace chorus::detail {

/// True where remember_parts has been given this structure_number lately.
[[nodiscard]] CHORUS_API bool knows_parts(std::uint64_t structure) noexcept;
/// `paths`: those of its parts.
CHORUS_API void remember_parts(std::uint64_t structure, const std::vector<std::string>& paths);

}  // namespace chorus::detail
