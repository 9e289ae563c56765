// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace chorus::bench {

/// Why the MPI library must not be given memory of devices; empty where it says that it takes it.
[[nodiscard]] std::string why_not_cuda_aware();

}  // namespace chorus::bench
