// SPDX-License-Identifier: Apache-2.0
#include "transport/slot_writer.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <chrono>
#endif

namespace chorus {
namespace {

/// Of a clock of any rate.
std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace

double FasterWay::Times::median() const noexcept {
  return std::max(std::min(last[0], last[1]), std::min(std::max(last[0], last[1]), last[2]));
}

kernels::Store FasterWay::next() noexcept {
  const std::uint32_t place = writes_++ % from_look_to_look;
  return place >= first_look && place < first_look + samples ? other(now_) : now_;
}

void FasterWay::took(kernels::Store way, double time) noexcept {
  Times& mine = times(way);
  mine.last[mine.count++ % samples] = time;
  const Times& plain = times(kernels::Store::cached);
  const Times& streamed = times(kernels::Store::streamed);
  if (plain.count < samples || streamed.count < samples) return;
  const double limit = now_ == kernels::Store::cached ? to_stay_with_plain : to_begin_with_plain;
  now_ = plain.median() < limit * streamed.median() ? kernels::Store::cached : kernels::Store::streamed;
}

void SlotWriter::write_timed(std::byte* place, const std::byte* data, std::size_t bytes) {
  const kernels::Store way = way_.next();
  const std::uint64_t began = ticks();
  kernels::copy(place, data, bytes, way);
  way_.took(way, static_cast<double>(ticks() - began) / static_cast<double>(bytes));
}

}  // namespace chorus
