// SPDX-License-Identifier: Apache-2.0
// Ranks that wait for nobody, and so are many calls ahead of a slow one: what they write must stay until it is read.
#include "carry_out.hpp"
#include "choose.hpp"
#include "worlds/worlds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace chorus::test {
namespace {

constexpr int calls = 3000;  // each choice of lengths twice
constexpr std::array<std::size_t, 8> lengths = {8, 100, 1024, 1025, 4096, 16384, 16385, 65536};
constexpr std::array<std::size_t, 3> lengths_at_a_time = {3, 6, 8};

/// In the byte at `place` of what `rank` has in a call.
std::uint8_t mark(int rank, int number, std::size_t place) {
  return static_cast<std::uint8_t>((static_cast<std::size_t>(31 * rank + 7 * number) + place) % 251);
}

std::vector<std::uint8_t> marks(int rank, int number, std::size_t bytes) {
  std::vector<std::uint8_t> all(bytes);
  for (std::size_t place = 0; place < bytes; ++place) all[place] = mark(rank, number, place);
  return all;
}

/// Whether `result` is that of this rank in a bcast from rank 0, or else in a scan by sum.
bool is_right(const std::vector<std::uint8_t>& result, Collective collective, int number, int rank) {
  for (std::size_t place = 0; place < result.size(); ++place) {
    std::uint8_t expected = mark(0, number, place);
    for (int before = 1; before <= rank && collective == Collective::scan; ++before) {
      expected = static_cast<std::uint8_t>(expected + mark(before, number, place));
    }
    if (result[place] != expected) return false;
  }
  return true;
}

/// Calls whose lengths follow no pattern: for a while those that let rank 0 be 256 calls ahead, then 32, then 8. The
/// last rank sleeps now and then.
Task<> call_one_after_another(Transport& transport, Collective collective) {
  const int me = transport.rank();
  std::size_t seed = 1;
  for (int number = 0; number < calls; ++number) {
    seed = seed * 1103515245 + 12345;
    const std::size_t bytes =
        lengths[(seed >> 16U) % lengths_at_a_time[static_cast<std::size_t>(number) / 500 % lengths_at_a_time.size()]];
    if (me == transport.size() - 1 && number % 200 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(4));
    std::vector<std::uint8_t> in = marks(me, number, bytes);
    std::vector<std::uint8_t> out = collective == Collective::bcast && me == 0 ? in : std::vector<std::uint8_t>(bytes);
    const Call call{.collective = collective, .type = DataType::uint8, .count = bytes};
    auto* const to = reinterpret_cast<std::byte*>(out.data());
    auto* const from = collective == Collective::bcast ? to : reinterpret_cast<std::byte*>(in.data());
    co_await carry_out(fastest(problem_of(call, transport), {}), transport, {.call = call, .in = from, .out = to});
    if (!is_right(out, collective, number, me)) throw std::logic_error("read what was written for another call");
  }
}

class FarAhead : public testing::TestWithParam<std::size_t> {};

TEST_P(FarAhead, WhatIsWrittenStaysUntilTheSlowestHasReadIt) {
  for (const Collective collective : {Collective::bcast, Collective::scan}) {
    on_every_rank({.kind = WorldKind::threads, .ranks = 3, .slot_bytes = GetParam()},
                  [=](Transport& transport) { return call_one_after_another(transport, collective); });
  }
}

INSTANTIATE_TEST_SUITE_P(WithSlotsOf, FarAhead, testing::Values(1024, 16384, 131072));

}  // namespace
}  // namespace chorus::test
