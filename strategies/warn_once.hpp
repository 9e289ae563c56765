// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/values.hpp>

#include <string>

namespace chorus {

/// Prints `text` as a warning, the first time in this process, on the first worker alone. Any thread.
void warn_once(const ReplicaLayout& layout, const std::string& text);

}  // namespace chorus
