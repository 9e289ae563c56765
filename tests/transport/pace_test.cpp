// SPDX-License-Identifier: Apache-2.0
#include "transport/pace.hpp"

#include "link_model.hpp"
#include "transport/shared_group.hpp"
#include "worlds/worlds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <thread>

namespace chorus::test {
namespace {

bool sensible(double megabytes_per_second) { return std::isfinite(megabytes_per_second) && megabytes_per_second > 0; }

TEST(MeasuredPace, IsThatOfBothWaysOfWriting) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 1, .slot_bytes = 4096}, [](Transport& transport) -> Task<> {
    const Pace pace = co_await measure_pace(*transport.shared());
    if (!sensible(pace.cached) || !sensible(pace.streamed)) throw std::logic_error("no pace was measured");
  });
}

// Two of a hundred ranks are always found on one core.
TEST(MeasuredPace, IsUnknownWhereRanksShareACore) {
  on_every_rank({.kind = WorldKind::threads, .ranks = 100, .slot_bytes = 128}, [](Transport& transport) -> Task<> {
    const Pace pace = co_await measure_pace(*transport.shared());
    if (pace.known() && std::thread::hardware_concurrency() < 100) throw std::logic_error("it cannot be known");
  });
}

TEST(MeasuredPace, MakesSharedMemoryFasterInTheModelByAsMuchAsItBeatsStreaming) {
  const double built_in = LinkModel().shared.megabytes_per_second;
  EXPECT_EQ(LinkModel::of({}).shared.megabytes_per_second, built_in);
  EXPECT_EQ(LinkModel::of({.cached = 5, .streamed = 10}).shared.megabytes_per_second, built_in);
  EXPECT_EQ(LinkModel::of({.cached = 15, .streamed = 10}).shared.megabytes_per_second, 1.5 * built_in);
}

}  // namespace
}  // namespace chorus::test
