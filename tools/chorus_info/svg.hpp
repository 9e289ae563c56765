// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "survey.hpp"

namespace chorus::info {

/// The machines as nested boxes with the ranks in them: a complete SVG file.
[[nodiscard]] std::string report_svg(const Survey& survey);

}  // namespace chorus::info
