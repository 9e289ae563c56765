// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>

namespace chorus {

/// What one call may ask for. All ranks pass the same.
struct CollectiveOptions {
  /// The algorithm by name (`chorus-info algorithms` lists them); empty: the library chooses.
  std::string_view algorithm = {};
  /// After this long the call throws Error{timeout} on all waiting ranks; zero: CHORUS_TIMEOUT decides. A request's
  /// time counts from its `wait`, or from its first `test`, where a tenth of a second at most counts from test to test.
  std::chrono::nanoseconds timeout = {};
  /// The same bits on every run with the same ranks in the same places. CHORUS_DETERMINISTIC=1 does it for all calls.
  bool deterministic = false;
  /// Sums and averages of float, double and their complex types are exact and rounded once: the same bits whatever the
  /// order and place of the ranks and the algorithm. Other reductions are deterministic. CHORUS_REPRODUCIBLE=1 does it
  /// for all calls.
  bool reproducible = false;
};

}  // namespace chorus
