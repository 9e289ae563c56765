// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <typeinfo>

namespace chorus {

/// `type` as a program writes it, for messages: std::vector<double>.
[[nodiscard]] std::string type_text(const std::type_info& type);

}  // namespace chorus
