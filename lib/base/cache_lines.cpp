// SPDX-License-Identifier: Apache-2.0
#include "base/cache_lines.hpp"

namespace chorus {
namespace {

bool of_this_processor() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") != 0;
#else
  return true;
#endif
}

}  // namespace

const bool fetching_takes_lines = of_this_processor();

}  // namespace chorus
