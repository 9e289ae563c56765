// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// chorus::allocate (chorus/memory.hpp): pieces of the process's segment, which all ranks of a node map.
namespace chorus {

/// What this process would get, in one line for reports.
[[nodiscard]] std::string describe_registered_memory();

}  // namespace chorus
