// SPDX-License-Identifier: Apache-2.0
#include "double.hpp"
#include "nccl_world.hpp"

#include <cuda.h>
#include <nccl.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

// The double of NCCL gives what NCCL gives, in the ways that NCCL gives it.
namespace chorus::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NcclDouble : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override {
    EXPECT_EQ(leaks(), Leaks{});
    EXPECT_THAT(faults(), IsEmpty());
  }
};

TEST_F(NcclDouble, reduces_and_moves) {
  on_ranks(3, [](NcclRank& self) {
    const float r = static_cast<float>(self.rank);
    const auto own = std::vector<float>{r, r + 10, r + 20};
    float* const all = self.with(own);
    EXPECT_EQ(ncclAllReduce(all, all, 3, ncclFloat32, ncclSum, self.comm, self.stream), ncclSuccess);
    EXPECT_THAT(self.values(all, 3), ElementsAre(3, 33, 63));
    float* const blocks = self.with(std::vector<float>{0, 0, 0, 0, 0, 0});
    float* const from = self.with(own);
    EXPECT_EQ(ncclAllGather(from, blocks, 2, ncclFloat32, self.comm, self.stream), ncclSuccess);
    EXPECT_THAT(self.values(blocks, 6), ElementsAre(0, 10, 1, 11, 2, 12));
    EXPECT_EQ(ncclReduceScatter(from, blocks, 1, ncclFloat32, ncclMax, self.comm, self.stream), ncclSuccess);
    EXPECT_THAT(self.values(blocks, 1), ElementsAre(2 + 10 * r));
    EXPECT_EQ(ncclBroadcast(from, from, 3, ncclFloat32, 1, self.comm, self.stream), ncclSuccess);
    EXPECT_THAT(self.values(from, 3), ElementsAre(1, 11, 21));
    EXPECT_EQ(ncclReduce(from, self.rank == 2 ? all : nullptr, 3, ncclFloat32, ncclProd, 2, self.comm, self.stream),
              ncclSuccess);
    const float expected = self.rank == 2 ? 1 : 3;
    EXPECT_EQ(self.values(all, 3).front(), expected);
  });
}

template <typename T>
void expect_reduced(NcclRank& self, ncclDataType_t type) {
  const std::vector<T> own = {static_cast<T>(static_cast<float>(self.rank + 2)), static_cast<T>(4.F)};
  const auto result = [&](ncclRedOp_t op) {
    T* const to = self.with(own);
    EXPECT_EQ(ncclAllReduce(to, to, 2, type, op, self.comm, self.stream), ncclSuccess);
    return static_cast<float>(self.values(to, 1).front());
  };
  EXPECT_EQ(result(ncclSum), static_cast<float>(static_cast<T>(9.F))) << type;  // float8e5m2 has no 9
  EXPECT_EQ(result(ncclProd), 24) << type;
  EXPECT_EQ(result(ncclMax), 4) << type;
  EXPECT_EQ(result(ncclMin), 2) << type;
  EXPECT_EQ(result(ncclAvg), 3) << type;
  T scalar = static_cast<T>(static_cast<float>(self.rank + 1));
  ncclRedOp_t scaled = ncclSum;
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&scaled, &scalar, type, ncclScalarHostImmediate, self.comm), ncclSuccess);
  EXPECT_EQ(result(scaled), 20) << type;  // 2 + 2*3 + 3*4
  EXPECT_EQ(ncclRedOpDestroy(scaled, self.comm), ncclSuccess);
}

TEST_F(NcclDouble, reduces_every_type_with_every_operation) {
  set_delay(0us);
  on_ranks(3, [](NcclRank& self) {
    expect_reduced<std::int8_t>(self, ncclInt8);
    expect_reduced<std::uint8_t>(self, ncclUint8);
    expect_reduced<std::int32_t>(self, ncclInt32);
    expect_reduced<std::uint32_t>(self, ncclUint32);
    expect_reduced<std::int64_t>(self, ncclInt64);
    expect_reduced<std::uint64_t>(self, ncclUint64);
    expect_reduced<__half>(self, ncclFloat16);
    expect_reduced<float>(self, ncclFloat32);
    expect_reduced<double>(self, ncclFloat64);
    expect_reduced<__nv_bfloat16>(self, ncclBfloat16);
    expect_reduced<__nv_fp8_e4m3>(self, ncclFloat8e4m3);
    expect_reduced<__nv_fp8_e5m2>(self, ncclFloat8e5m2);
  });
}

TEST_F(NcclDouble, works_in_place_where_nccl_does) {
  on_ranks(2, [](NcclRank& self) {
    int* const blocks = self.with(std::vector<int>{self.rank, self.rank + 1});
    EXPECT_EQ(ncclAllGather(blocks + self.rank, blocks, 1, ncclInt32, self.comm, self.stream), ncclSuccess);
    EXPECT_THAT(self.values(blocks, 2), ElementsAre(0, 2));
    EXPECT_EQ(ncclReduceScatter(blocks, blocks + self.rank, 1, ncclInt32, ncclSum, self.comm, self.stream),
              ncclSuccess);
    EXPECT_EQ(self.values(blocks, 2)[static_cast<std::size_t>(self.rank)], 4 * self.rank);
  });
}

TEST_F(NcclDouble, reads_only_when_all_streams_have_come) {
  on_ranks(2, [](NcclRank& self) {
    int* const data = self.with(std::vector<int>{1});
    if (self.rank == 1) std::this_thread::sleep_for(20ms);
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt32, ncclSum, self.comm, self.stream), ncclSuccess);
    if (self.rank == 0) {
      EXPECT_EQ(cuStreamQuery(self.stream), CUDA_ERROR_NOT_READY);
    }
    EXPECT_THAT(self.values(data, 1), ElementsAre(2));
  });
}

TEST_F(NcclDouble, exchanges_within_a_group) {
  on_ranks(3, [](NcclRank& self) {
    const int next = (self.rank + 1) % 3;
    const int last = (self.rank + 2) % 3;
    int* const from = self.with(std::vector<int>{self.rank, 10 + self.rank});
    int* const to = self.with(std::vector<int>{-1, -1});
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclRecv(to, 1, ncclInt32, last, self.comm, self.stream), ncclSuccess);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclSend(from, 1, ncclInt32, next, self.comm, self.stream), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(cuStreamQuery(self.stream), CUDA_SUCCESS) << "launched before the outer end";
    EXPECT_EQ(ncclSend(from + 1, 1, ncclInt32, next, self.comm, self.stream), ncclSuccess);
    EXPECT_EQ(ncclRecv(to + 1, 1, ncclInt32, last, self.comm, self.stream), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_THAT(self.values(to, 2), ElementsAre(last, 10 + last));
  });
  EXPECT_EQ(calls("ncclSend").front().group_depth, 2);
}

TEST_F(NcclDouble, makes_communicators_without_blocking) {
  on_devices(2, [](NcclRank& self) {
    EXPECT_EQ(self.init(false), ncclInProgress);
    EXPECT_NE(self.comm, nullptr);
    EXPECT_EQ(self.wait(), ncclSuccess);
    int ranks = 0;
    EXPECT_EQ(ncclCommCount(self.comm, &ranks), ncclSuccess);
    EXPECT_EQ(ranks, 2);
    EXPECT_EQ(ncclCommFinalize(self.comm), ncclInProgress);
    EXPECT_EQ(self.wait(), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(self.comm), ncclSuccess);
  });
}

TEST_F(NcclDouble, makes_communicators_of_one_thread_in_a_group) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  ncclUniqueId id = {};
  ncclComm_t comms[2] = {};
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (int device = 0; device < 2; ++device) {
    CUcontext context = nullptr;
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(ncclCommInitRankConfig(&comms[device], 2, id, device, nullptr), ncclSuccess);
  }
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  for (int device = 0; device < 2; ++device) {
    int found = -1;
    EXPECT_EQ(ncclCommCuDevice(comms[device], &found), ncclSuccess);
    EXPECT_EQ(found, device);
    EXPECT_EQ(ncclCommDestroy(comms[device]), ncclSuccess);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(device), CUDA_SUCCESS);
  }
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
}

TEST_F(NcclDouble, refuses_two_ranks_on_one_device) {
  on_devices(2, [](NcclRank& self) {
    CUcontext context = nullptr;
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(self.init(), ncclInvalidUsage);
    EXPECT_EQ(self.comm, nullptr);
    EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("Duplicate GPU detected : rank 1 and rank 0"));
    EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  });
}

TEST_F(NcclDouble, splits) {
  on_ranks(4, [](NcclRank& self) {
    ncclComm_t part = nullptr;
    const int color = self.rank == 3 ? NCCL_SPLIT_NOCOLOR : 0;
    EXPECT_EQ(ncclCommSplit(self.comm, color, -self.rank, &part, nullptr), ncclSuccess);
    ASSERT_EQ(part == nullptr, self.rank == 3);
    if (part == nullptr) return;
    int rank = -1;
    EXPECT_EQ(ncclCommUserRank(part, &rank), ncclSuccess);
    EXPECT_EQ(rank, 2 - self.rank);
    int* const data = self.with(std::vector<int>{self.rank});
    EXPECT_EQ(ncclBroadcast(data, data, 1, ncclInt32, 0, part, self.stream), ncclSuccess);
    EXPECT_THAT(self.values(data, 1), ElementsAre(2));
    EXPECT_EQ(ncclCommDestroy(part), ncclSuccess);
  });
}

TEST_F(NcclDouble, stalls_until_it_is_aborted) {
  on_ranks(2, [](NcclRank& self) {
    int* const data = self.with(std::vector<int>{7});
    if (self.rank == 0) {
      EXPECT_EQ(ncclRecv(data, 1, ncclInt32, 1, self.comm, self.stream), ncclSuccess);
      std::this_thread::sleep_for(10ms);
      EXPECT_EQ(cuStreamQuery(self.stream), CUDA_ERROR_NOT_READY);
    }
    EXPECT_EQ(ncclCommAbort(self.comm), ncclSuccess);
    self.comm = nullptr;
    EXPECT_THAT(self.values(data, 1), ElementsAre(7));
  });
}

TEST_F(NcclDouble, tells_of_errors_that_the_test_has_set) {
  on_ranks(2, [](NcclRank& self) {
    if (self.rank == 1) {
      std::this_thread::sleep_for(10ms);
    } else {
      const auto all = communicators();
      ASSERT_EQ(all.size(), 2U);
      set_async_error(all.front().communicator, 0, ncclRemoteError);
      set_async_error(all.front().communicator, 1, ncclRemoteError);
      ncclResult_t state = ncclSuccess;
      EXPECT_EQ(ncclCommGetAsyncError(self.comm, &state), ncclSuccess);
      EXPECT_EQ(state, ncclRemoteError);
      EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 1, ncclInt8, ncclSum, self.comm, self.stream), ncclRemoteError);
    }
    EXPECT_EQ(ncclCommAbort(self.comm), ncclSuccess);
    self.comm = nullptr;
  });
}

TEST_F(NcclDouble, waits_for_a_rank_that_never_arrives) {
  set_never_arrives(1);
  on_devices(2, [](NcclRank& self) {
    EXPECT_EQ(self.init(false), ncclInProgress);
    std::this_thread::sleep_for(10ms);
    ncclResult_t state = ncclSuccess;
    EXPECT_EQ(ncclCommGetAsyncError(self.comm, &state), ncclSuccess);
    EXPECT_EQ(state, ncclInProgress);
    EXPECT_EQ(ncclCommAbort(self.comm), ncclSuccess);
  });
}

TEST_F(NcclDouble, ends_a_blocking_wait_when_the_test_does) {
  set_never_arrives(1);
  std::atomic<int> ended = 0;
  std::thread test([&] {
    while (calls("ncclCommInitRankConfig").size() < 2) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(ended, 0);
    clear();
  });
  on_devices(2, [&](NcclRank& self) {
    EXPECT_EQ(self.init(), ncclSystemError);
    ++ended;
  });
  test.join();
}

TEST_F(NcclDouble, reads_a_scalar_of_a_device_late) {
  on_ranks(2, [](NcclRank& self) {
    float* const scalar = self.with(std::vector<float>{3});
    float* const data = self.with(std::vector<float>{static_cast<float>(self.rank + 1)});
    ncclRedOp_t op = ncclSum;
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, scalar, ncclFloat32, ncclScalarDevice, self.comm), ncclSuccess);
    EXPECT_EQ(cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(scalar), 0, 4, self.stream), CUDA_SUCCESS);
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclFloat32, op, self.comm, self.stream), ncclSuccess);
    EXPECT_EQ(ncclRedOpDestroy(op, self.comm), ncclSuccess);
    EXPECT_THAT(self.values(data, 1), ElementsAre(0));
  });
}

TEST_F(NcclDouble, is_found_by_dlopen) {
  void* const library = dlopen(std::getenv("CHORUS_NCCL_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const char* const name : {"ncclCommInitRankConfig", "ncclCommSplit", "ncclRedOpDestroy", "ncclGetLastError"}) {
    EXPECT_NE(dlsym(library, name), nullptr) << name;
  }
  const auto get_version = reinterpret_cast<decltype(&ncclGetVersion)>(dlsym(library, "ncclGetVersion"));
  int version = 0;
  EXPECT_EQ(get_version(&version), ncclSuccess);
  EXPECT_EQ(calls("ncclGetVersion").size(), 1U);
  dlclose(library);
}

TEST_F(NcclDouble, launches_slowly) {
  on_devices(2, [](NcclRank& self) {
    EXPECT_EQ(self.init(false), ncclInProgress);
    EXPECT_EQ(self.wait(), ncclSuccess);
    set_slow_launch(true);
    int* const data = self.with(std::vector<int>{1});
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt32, ncclSum, self.comm, self.stream), ncclInProgress);
    EXPECT_THAT(self.values(data, 1), ElementsAre(1)) << "not enqueued yet";
    EXPECT_EQ(self.wait(), ncclSuccess);
    EXPECT_THAT(self.values(data, 1), ElementsAre(2));
    EXPECT_EQ(ncclCommDestroy(self.comm), ncclSuccess);
  });
}

TEST_F(NcclDouble, is_captured_and_replayed) {
  on_ranks(2, [](NcclRank& self) {
    int* const data = self.with(std::vector<int>{1});
    begin_capture(self.stream, CaptureMode::relaxed);
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt32, ncclSum, self.comm, self.stream), ncclSuccess);
    EXPECT_EQ(end_capture(self.stream), CUDA_SUCCESS);
    EXPECT_THAT(self.values(data, 1), ElementsAre(1));
    for (int time = 0; time < 3; ++time) EXPECT_EQ(replay(self.stream), 1U);
    EXPECT_THAT(self.values(data, 1), ElementsAre(8));
  });
}

TEST_F(NcclDouble, fails_and_is_old_when_it_is_asked_to) {
  set_nccl_version(21200);
  int version = 0;
  EXPECT_EQ(ncclGetVersion(&version), ncclSuccess);
  EXPECT_EQ(version, 21200);
  on_ranks(2, [](NcclRank& self) {
    if (self.rank != 1) return;
    inject({.function = "ncclAllReduce", .result = ncclSystemError, .device = 1});
    int* const data = self.with(std::vector<int>{1});
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt32, ncclSum, self.comm, self.stream), ncclSystemError);
    EXPECT_EQ(ncclGroupEnd(), ncclSystemError);
    const DeviceCall call = calls("ncclAllReduce").front();
    EXPECT_EQ(text(call), "rank 1: ncclAllReduce on device 1, 1 int32 sum, communicator " +
                              std::to_string(call.communicator) + ", in a group: 2");
  });
}

}  // namespace
}  // namespace chorus::test
