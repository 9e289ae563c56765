// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace chorus::frame_arena {

// Memory for coroutine frames: free lists by size, one set a thread, so that a collective allocates nothing after the
// first of its kind. A frame may be released on another thread than it was allocated on.

[[nodiscard]] void* allocate(std::size_t bytes);
void release(void* frame, std::size_t bytes) noexcept;

}  // namespace chorus::frame_arena
