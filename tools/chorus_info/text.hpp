// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "survey.hpp"

namespace chorus::info {

/// The machines as indented lines with the ranks at the right, and a line that sums up. Cores without ranks are drawn
/// together.
[[nodiscard]] std::string report_text(const Survey& survey);

}  // namespace chorus::info
