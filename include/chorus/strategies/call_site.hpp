// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace chorus {

/// A place in a program. As std::source_location, which not every compiler has.
struct CallSite {
  const char* file = "";
  unsigned line = 0;

  /// As a default argument: where the call stands.
  static constexpr CallSite here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

}  // namespace chorus
