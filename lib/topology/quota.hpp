// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "topology/binding.hpp"

namespace chorus {

/// The smallest quota among the control groups (version 1 or 2) that this process is in, as seen under `root`, which
/// stands for "/". Without one, or where nothing can be read: no quota.
[[nodiscard]] CpuQuota cpu_quota(const std::filesystem::path& root = "/");

}  // namespace chorus
