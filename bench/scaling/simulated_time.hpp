// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace chorus::bench {

/// Runs `call` on every rank from the same moment on. Returns the simulated microseconds until the last has returned,
/// the same on every rank. Sends nothing: all ranks are in one process. Called by all `ranks` ranks.
[[nodiscard]] double simulated_us(int ranks, const std::function<void()>& call);

/// True where all ranks say `here`. Called by all.
[[nodiscard]] bool on_all_ranks(int ranks, bool here);

}  // namespace chorus::bench
