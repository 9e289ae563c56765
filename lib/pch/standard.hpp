// SPDX-License-Identifier: Apache-2.0
// Precompiled, as half the time of a build goes into reading these. Every source includes what it uses nevertheless:
// the build with clang has no precompiled headers.
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
