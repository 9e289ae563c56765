// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

namespace chorus {

/// What one call may ask for. All ranks pass the same.
struct CollectiveOptions {
  /// The algorithm by name (`chorus-info algorithms` lists them); empty: the library chooses.
  std::string_view algorithm = {};
  /// After this long the call throws Error{timeout} on all waiting ranks; zero: CHORUS_TIMEOUT decides.
  std::chrono::nanoseconds timeout = {};
};

}  // namespace chorus
