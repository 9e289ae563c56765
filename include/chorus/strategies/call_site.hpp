// SPDX-License-Identifier: Apache-2.0
#pragma once

#if !__has_builtin(__builtin_COLUMN)
#include <source_location>
#endif

namespace chorus {

/// A place in a program. As std::source_location, which not every compiler has.
struct CallSite {
  const char* file = "";
  unsigned line = 0;
  unsigned column = 0;

  /// As a default argument: where the call stands.
#if __has_builtin(__builtin_COLUMN)
  static constexpr CallSite here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE(),
                                 unsigned column = __builtin_COLUMN()) noexcept {
    return {file, line, column};
  }
#else
  static constexpr CallSite here(const std::source_location& place = std::source_location::current()) noexcept {
    return {place.file_name(), place.line(), place.column()};
  }
#endif
};

}  // namespace chorus
