// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

/// libFuzzer's entry point: looks at one input. What it may not find ends the program.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace chorus::fuzz {

inline void require(bool condition, const char* otherwise) {
  if (condition) return;
  std::fprintf(stderr, "found: %s\n", otherwise);
  std::abort();
}

}  // namespace chorus::fuzz
