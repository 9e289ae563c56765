// SPDX-License-Identifier: Apache-2.0
#include "double.hpp"
#include "nccl_world.hpp"

#include <cuda.h>
#include <nccl.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

// What NCCL would hang, crash or give wrong data of is recorded as a fault.
namespace chorus::test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class NcclFaults : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { EXPECT_EQ(leaks(), Leaks{}); }
};

/// What rank 0 calls, while rank 1 calls an allreduce of one int32 and ncclSum.
struct Other {
  const char* name;
  ncclResult_t (*call)(NcclRank&, int* data);
};
const Other others[] = {
    {"ncclBroadcast of 1 int32 root 0",
     [](NcclRank& self, int* data) { return ncclBroadcast(data, data, 1, ncclInt32, 0, self.comm, self.stream); }},
    {"ncclAllReduce of 2 int32 sum",
     [](NcclRank& self, int* data) {
       return ncclAllReduce(data, data, 2, ncclInt32, ncclSum, self.comm, self.stream);
     }},
    {"ncclAllReduce of 1 float32 sum",
     [](NcclRank& self, int* data) {
       return ncclAllReduce(data, data, 1, ncclFloat32, ncclSum, self.comm, self.stream);
     }},
    {"ncclAllReduce of 1 int32 max",
     [](NcclRank& self, int* data) {
       return ncclAllReduce(data, data, 1, ncclInt32, ncclMax, self.comm, self.stream);
     }},
};

TEST_F(NcclFaults, ranks_call_different_things) {
  for (const Other& other : others) {
    clear();
    on_ranks(2, [&](NcclRank& self) {
      int* const data = self.with(std::vector<int>{5, 6});
      if (self.rank == 0) {
        EXPECT_EQ(other.call(self, data), ncclSuccess);
      } else {
        EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt32, ncclSum, self.comm, self.stream), ncclSuccess);
      }
      EXPECT_THAT(self.values(data, 2), ElementsAre(5, 6));
    });
    EXPECT_THAT(faults(), ElementsAre(HasSubstr(std::string("rank 0 calls ") + other.name))) << other.name;
  }
}

TEST_F(NcclFaults, roots_and_messages_differ) {
  on_ranks(2, [](NcclRank& self) {
    int* const data = self.with(std::vector<int>{5, 6});
    EXPECT_EQ(ncclBroadcast(data, data, 1, ncclInt32, self.rank, self.comm, self.stream), ncclSuccess);
    if (self.rank == 0) {
      EXPECT_EQ(ncclSend(data, 1, ncclInt32, 1, self.comm, self.stream), ncclSuccess);
    } else {
      EXPECT_EQ(ncclRecv(data, 2, ncclInt32, 0, self.comm, self.stream), ncclSuccess);
    }
    EXPECT_THAT(self.values(data, 2), ElementsAre(5, 6));
  });
  EXPECT_THAT(faults(), UnorderedElementsAre(HasSubstr("root 0"), HasSubstr("ncclRecv of 2 int32 with 0")));
}

TEST_F(NcclFaults, a_communicator_is_used_too_early_or_too_late) {
  on_devices(1, [](NcclRank& self) {
    int* const data = self.with(std::vector<int>{1});
    const auto reduce = [&] { return ncclAllReduce(data, data, 1, ncclInt32, ncclSum, self.comm, self.stream); };
    EXPECT_EQ(self.init(false), ncclInProgress);
    EXPECT_EQ(reduce(), ncclInvalidArgument);
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(reduce(), ncclInvalidArgument);
    EXPECT_EQ(self.wait(), ncclSuccess);
    EXPECT_EQ(ncclCommFinalize(self.comm), ncclInProgress);
    EXPECT_EQ(reduce(), ncclInvalidUsage);
    EXPECT_EQ(ncclCommDestroy(self.comm), ncclSuccess);
    EXPECT_EQ(reduce(), ncclInvalidArgument);
    EXPECT_EQ(ncclCommDestroy(self.comm), ncclInvalidArgument);
  });
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("before the previous operation"), HasSubstr("has not yet said"),
                                    HasSubstr("has been finalized"), HasSubstr("destroyed or aborted"),
                                    HasSubstr("ncclCommDestroy")));
}

TEST_F(NcclFaults, memory_is_not_what_it_should_be) {
  on_ranks(1, [](NcclRank& self) {
    int* const data = self.with(std::vector<int>{1, 2, 3});
    int host = 0;
    void* pinned = nullptr;
    EXPECT_EQ(cuMemHostAlloc(&pinned, 4, 0), CUDA_SUCCESS);
    const auto reduce = [&](const void* from, void* to, std::size_t count) {
      return ncclAllReduce(from, to, count, ncclInt32, ncclSum, self.comm, self.stream);
    };
    EXPECT_EQ(reduce(&host, data, 1), ncclInvalidArgument);
    EXPECT_EQ(reduce(data, pinned, 1), ncclInvalidArgument);
    EXPECT_EQ(reduce(data, data, 4), ncclInvalidArgument);
    EXPECT_EQ(reduce(data, data + 1, 2), ncclInvalidArgument);
    EXPECT_EQ(reduce(data, data + 1, 1), ncclSuccess);
    EXPECT_EQ(cuStreamSynchronize(self.stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
  });
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("ordinary host memory"), HasSubstr("pinned host memory"),
                                    HasSubstr("reach beyond"), HasSubstr("overlap")));
}

TEST_F(NcclFaults, a_stream_or_memory_is_of_another_device) {
  on_ranks(1, [](NcclRank& self) {
    CUcontext other = nullptr;
    CUstream stream = nullptr;
    CUdeviceptr memory = 0;
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&other, 1), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxPushCurrent(other), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc(&memory, 4), CUDA_SUCCESS);
    int* const data = self.with(std::vector<int>{1});
    const auto far = reinterpret_cast<int*>(memory);
    EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
    int* const near = self.with(std::vector<int>{1});
    EXPECT_EQ(ncclAllReduce(near, near, 1, ncclInt32, ncclSum, self.comm, stream), ncclUnhandledCudaError);
    EXPECT_EQ(ncclAllReduce(far, near, 1, ncclInt32, ncclSum, self.comm, self.stream), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(near, data, 1, ncclInt32, ncclSum, self.comm, self.stream), ncclInvalidArgument);
    EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
  });
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("a stream of device 1"), HasSubstr("memory of device 1"),
                                    HasSubstr("memory of device 1")));
}

TEST_F(NcclFaults, a_group_is_not_closed_or_not_opened) {
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("not in a group call")));
  clear();
  std::thread([] {
    set_label("rank 5");
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_THAT(faults(), ElementsAre(HasSubstr("this thread is after ncclGroupStart")));
  }).join();
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("rank 5: the thread has ended after ncclGroupStart")));
}

TEST_F(NcclFaults, a_rank_comes_twice_or_with_another_number_of_ranks) {
  on_devices(1, [](NcclRank& self) {
    self.ranks = 2;
    EXPECT_EQ(self.init(false), ncclInProgress);
    EXPECT_EQ(ncclCommDestroy(self.comm), ncclInvalidArgument);
    NcclRank again{.rank = 0, .ranks = 2, .id = self.id};
    EXPECT_EQ(again.init(false), ncclInvalidUsage);
    NcclRank other{.rank = 1, .ranks = 3, .id = self.id};
    EXPECT_EQ(other.init(false), ncclInvalidArgument);
    NcclRank unknown{.rank = 0, .ranks = 1};
    EXPECT_EQ(unknown.init(), ncclInvalidArgument);
    EXPECT_EQ(ncclCommAbort(self.comm), ncclSuccess);
  });
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("before the previous operation"), HasSubstr("rank 0 comes twice"),
                                    HasSubstr("differ in how many"), HasSubstr("unknown in this process")));
}

TEST_F(NcclFaults, a_replay_outlives_its_communicator) {
  on_ranks(1, [](NcclRank& self) {
    int* const data = self.with(std::vector<int>{1});
    begin_capture(self.stream, CaptureMode::relaxed);
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt32, ncclSum, self.comm, self.stream), ncclSuccess);
    EXPECT_EQ(end_capture(self.stream), CUDA_SUCCESS);
    EXPECT_EQ(ncclCommDestroy(self.comm), ncclSuccess);
    self.comm = nullptr;
    EXPECT_EQ(replay(self.stream), 1U);
    EXPECT_EQ(cuStreamSynchronize(self.stream), CUDA_SUCCESS);
  });
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("after its communicator has been destroyed")));
}

TEST_F(NcclFaults, a_missing_destroy_is_a_leak) {
  on_ranks(1, [](NcclRank& self) {
    EXPECT_EQ(leaks().communicators, 1);
    int scalar = 2;
    ncclRedOp_t op = ncclSum;
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &scalar, ncclInt32, ncclScalarHostImmediate, self.comm), ncclSuccess);
    EXPECT_EQ(leaks().reduce_ops, 1);
  });
  EXPECT_THAT(faults(), IsEmpty());
}

}  // namespace
}  // namespace chorus::test
