// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace chorus {

/// The kernels of this folder as nvcc has compiled them, for cuModuleLoadData; empty where the library was built
/// without nvcc.
[[nodiscard]] std::span<const std::byte> kernel_image() noexcept;

}  // namespace chorus
