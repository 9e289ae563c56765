// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads share out the devices of the double of CUDA's driver. Those of other processes, which may see
// other devices, are in the test of chorus-info.
#include "device/nearest_gpu.hpp"

#include "device/double/double.hpp"
#include "device/visible_gpus.hpp"
#include "worlds/outcome.hpp"
#include "worlds/scoped_variable.hpp"

#include <chorus/chorus.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace chorus::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NearestGpu : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override {
    EXPECT_THAT(faults(), IsEmpty());
    EXPECT_EQ(leaks(), Leaks{}) << "no context is made";
    clear();
  }
};

/// What each of so many ranks gets: the device's number, -1 for none.
std::vector<int> shared_out(int ranks) {
  std::vector<int> ordinals(static_cast<std::size_t>(ranks));
  const std::vector<Communicator> communicators = thread_communicators(ranks);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < communicators.size(); ++rank) {
    threads.emplace_back([&, rank] {
      const std::optional<Gpu> gpu = nearest_gpu(communicators[rank]);
      ordinals[rank] = gpu ? gpu->ordinal : -1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return ordinals;
}

/// How the call ends on each of two ranks, and that the communicator can be used afterwards.
std::vector<Outcome> rejected() {
  std::vector<Outcome> outcomes(2);
  const std::vector<Communicator> communicators = thread_communicators(2);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      outcomes[rank] = outcome_of([&] { static_cast<void>(nearest_gpu(communicators[rank])); });
      EXPECT_EQ(allreduce(communicators[rank], 1, ReduceOp::sum), 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

TEST_F(NearestGpu, IsOneOfTheDevicesOfThisProcess) {
  set_device_count(2);
  const std::vector<Gpu> gpus = local_gpus();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[1], (Gpu{.ordinal = 1,
                          .bus_id = "0000:2b:00.0",
                          .uuid = "70726574-656e-6465-6420-555549443031",
                          .name = "Pretended device H100",
                          .memory_bytes = std::uint64_t{80} << 30U}));
}

TEST_F(NearestGpu, IsGivenToEveryRankInTheirOrder) {
  set_device_count(4);
  EXPECT_THAT(shared_out(1), ElementsAre(0));
  EXPECT_THAT(shared_out(2), ElementsAre(0, 1));
  EXPECT_THAT(shared_out(3), ElementsAre(0, 1, 2));
  EXPECT_THAT(shared_out(4), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(shared_out(5), ElementsAre(0, 0, 1, 2, 3));
  EXPECT_THAT(shared_out(6), ElementsAre(0, 0, 1, 1, 2, 3));
  EXPECT_THAT(shared_out(7), ElementsAre(0, 0, 1, 1, 2, 2, 3));
  EXPECT_THAT(shared_out(8), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
}

TEST_F(NearestGpu, IsOneOfThoseThatAreVisible) {
  const ScopedVariable visible("CUDA_VISIBLE_DEVICES", "5,2");
  const std::vector<Gpu> gpus = local_gpus();
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].bus_id, "0000:6f:00.0");
  EXPECT_EQ(gpus[1].bus_id, "0000:3c:00.0");
  EXPECT_THAT(shared_out(4), ElementsAre(0, 0, 1, 1));
}

TEST_F(NearestGpu, MayBeAnInstanceOfOne) {
  set_device_count(2);
  const char* const name = "NVIDIA A100-SXM4-40GB MIG 3g.20gb";
  set_device_identity(0, {name, "0000:1A:00.0", "first instance  ", std::size_t{20} << 30U});
  set_device_identity(1, {name, "0000:1A:00.0", "second instance ", std::size_t{20} << 30U});
  const std::vector<Gpu> gpus = local_gpus();
  EXPECT_EQ(gpus[0].bus_id, gpus[1].bus_id);
  EXPECT_NE(gpus[0].uuid, gpus[1].uuid);
  EXPECT_THAT(shared_out(2), ElementsAre(0, 1));
}

TEST_F(NearestGpu, IsTheOneThatIsWanted) {
  set_device_count(2);
  const ScopedVariable wanted("CHORUS_GPUS", "1,1,0");
  EXPECT_THAT(shared_out(3), ElementsAre(1, 1, 0));
  EXPECT_THAT(shared_out(2), ElementsAre(1, 1));
}

TEST_F(NearestGpu, IsRefusedEverywhereWhereWhatIsWantedCannotBe) {
  set_device_count(2);
  for (const char* const list : {"0", "0,2"}) {
    const ScopedVariable wanted("CHORUS_GPUS", list);
    const std::vector<Outcome> outcomes = rejected();
    for (std::size_t rank = 0; rank < 2; ++rank) {
      EXPECT_EQ(outcomes[rank].code, ErrorCode::invalid_environment);
      EXPECT_THAT(outcomes[rank].text, HasSubstr("nearest_gpu on rank " + std::to_string(rank)));
      EXPECT_THAT(outcomes[rank].text, HasSubstr("CHORUS_GPUS=" + std::string(list)));
    }
  }
}

TEST_F(NearestGpu, IsAskedForByAllRanks) {
  const std::vector<Communicator> communicators = thread_communicators(2);
  Outcome other;
  std::thread second([&] { other = outcome_of([&] { barrier(communicators[1]); }); });
  const Outcome outcome = outcome_of([&] { static_cast<void>(nearest_gpu(communicators[0])); });
  second.join();
  expect_error(outcome, ErrorCode::mismatch, {"nearest_gpu", "barrier"});
  expect_error(other, ErrorCode::mismatch, {"nearest_gpu", "barrier"});
}

TEST_F(NearestGpu, IsNoneWithTheReason) {
  {
    const ScopedVariable visible("CUDA_VISIBLE_DEVICES", "");
    EXPECT_THAT(local_gpus(), IsEmpty());
    EXPECT_THAT(shared_out(2), ElementsAre(-1, -1));
    EXPECT_EQ(visible_gpus().reason, "the CUDA driver tells of no device");
    EXPECT_TRUE(visible_gpus().expected);
  }
  inject({.function = "cuDeviceGetUuid", .result = CUDA_ERROR_UNKNOWN, .device = 1});
  EXPECT_THAT(visible_gpus().reason, HasSubstr("CUDA cannot tell the device's UUID"));
  EXPECT_EQ(visible_gpus().gpus.size(), 8U) << "the next time";
}

}  // namespace
}  // namespace chorus::test
