// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace chorus {

/// What the last Error says that this thread has made; empty where it has made none.
[[nodiscard]] const std::string& last_error() noexcept;

}  // namespace chorus
