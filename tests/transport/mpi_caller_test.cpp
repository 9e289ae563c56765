// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_caller.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace chorus {
namespace {

using namespace std::chrono_literals;

TEST(MpiCaller, EndsTheProcessWhereACallDoesNotComeBack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the watch is a thread
  const auto stay = [] {
    MpiCaller caller;
    caller.watch(100ms);
    const MpiCaller::Call call(caller);
    std::this_thread::sleep_for(1min);
  };
  EXPECT_EXIT(stay(), testing::ExitedWithCode(1), "rank 0 of MPI_COMM_WORLD .* MPI has not come back from a call");
}

TEST(MpiCaller, MayMakeCallsForLongerThanTheLimitAndStayOutsideForLonger) {
  MpiCaller caller;
  caller.watch(1ms);
  constexpr auto longer = 1500ms;
  for (const auto end = std::chrono::steady_clock::now() + longer; std::chrono::steady_clock::now() < end;) {
    const MpiCaller::Call call(caller);
  }
  std::this_thread::sleep_for(longer);
}

TEST(MpiCaller, IsNotWatchedUnlessAskedFor) {
  MpiCaller caller;
  const MpiCaller::Call call(caller);
  std::this_thread::sleep_for(1500ms);
}

}  // namespace
}  // namespace chorus
