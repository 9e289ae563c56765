// SPDX-License-Identifier: Apache-2.0
// Precompiled, as half the time of a build goes into reading these. Every source includes what it uses nevertheless:
// not every build precompiles (tests/house sees to it).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <complex>
#include <coroutine>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>
