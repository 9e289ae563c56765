// SPDX-License-Identifier: Apache-2.0
// Every collective on device memory by each of its algorithms, against the oracle.
#include "collectives/oracle.hpp"
#include "device/device_ranks.hpp"
#include "kernels/kernels.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

constexpr Collective collectives[] = {Collective::bcast,
                                      Collective::reduce,
                                      Collective::allreduce,
                                      Collective::allgather,
                                      Collective::reduce_scatter_block,
                                      Collective::alltoall,
                                      Collective::gather,
                                      Collective::scatter};

bool has_op(Collective collective) {
  return collective == Collective::reduce || collective == Collective::allreduce ||
         collective == Collective::reduce_scatter_block;
}

bool has_root(Collective collective) {
  return collective == Collective::bcast || collective == Collective::reduce || collective == Collective::gather ||
         collective == Collective::scatter;
}

using Case = std::tuple<const char*, Devices, int>;  // algorithm, whose devices, ranks

class OnDevices : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { skip_without_devices(algorithm(), ranks()); }
  static const char* algorithm() { return std::get<0>(GetParam()); }
  static int ranks() { return std::get<2>(GetParam()); }
  static bool by_windows() { return std::string(algorithm()).starts_with("ipc"); }
  /// The collectives that it is for.
  static std::vector<Collective> its_collectives() {
    if (by_windows()) return {Collective::allreduce};
    return {std::begin(collectives), std::end(collectives)};
  }

  static void run(const std::vector<PreparedCall>& calls) {
    on_device_ranks(ranks(), std::get<1>(GetParam()), [&](const Communicator& comm) {
      const TestStream stream;
      for (const PreparedCall& call : calls) {
        DeviceBuffers buffers(call, comm.rank());
        const Stream given = stream.get();
        call_door(comm, call.call(), buffers.of(given), {.algorithm = algorithm()});
        synchronize(comm, given);
        buffers.check();
      }
    });
  }
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const auto& [algorithm, devices, ranks] = info.param;
  const char* const sharing = devices == Devices::shared ? "_on_one_device_" : "_";
  return algorithm + std::string(sharing) + std::to_string(ranks);
}

TEST_P(OnDevices, EveryCountRootAndPlace) {
  std::vector<PreparedCall> calls;
  const auto p = static_cast<std::size_t>(ranks());
  for (const Collective collective : its_collectives()) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, p - 1, p, p + 1, 300'001 / p}) {
      for (int root = 0; root < (has_root(collective) ? ranks() : 1); root += std::max(1, ranks() - 1)) {
        for (const bool in_place : {false, true}) {
          if (!in_place && collective == Collective::bcast) continue;
          calls.emplace_back(Call{collective, DataType::float32, ReduceOp::sum, root, count}, ranks(),
                             Placement{.in_place = in_place});
        }
      }
    }
  }
  run(calls);
}

/// What NCCL joins as chorus says, and what is joined through windows.
bool device_joins(DataType type, ReduceOp op) {
  if (type == DataType::int16 || type == DataType::uint16 || type == DataType::boolean ||
      type >= DataType::long_double) {
    return false;
  }
  if (op == ReduceOp::average) return type >= DataType::float16;
  return op <= ReduceOp::max;
}

TEST_P(OnDevices, EveryTypeAndOperation) {
  std::vector<PreparedCall> calls;
  bool in_place = false;
  for (const Collective collective : its_collectives()) {
    for (int number = 0; number < static_cast<int>(DataType::opaque); ++number) {
      const auto type = static_cast<DataType>(number);
      for (int operation = 0; operation < (has_op(collective) ? reduce_op_count : 1); ++operation) {
        const auto op = static_cast<ReduceOp>(operation);
        if (has_op(collective) && !kernels::supports(type, op)) continue;
        if (has_op(collective) && std::string(algorithm()) != "staged" && !device_joins(type, op)) continue;
        in_place = !in_place || collective == Collective::bcast;
        calls.emplace_back(Call{collective, type, op, 0, 5}, ranks(), Placement{.in_place = in_place});
      }
    }
  }
  run(calls);
}

INSTANTIATE_TEST_SUITE_P(Every, OnDevices,
                         testing::Combine(testing::Values("nccl", "staged"), testing::Values(Devices::own),
                                          testing::Range(1, 9)),
                         name_of);
#if CHORUS_HAS_KERNELS
INSTANTIATE_TEST_SUITE_P(Windows, OnDevices,
                         testing::Combine(testing::Values("ipc_one_shot", "ipc_two_shot"),
                                          testing::Values(Devices::own, Devices::shared), testing::Range(1, 9)),
                         name_of);
#endif

}  // namespace
}  // namespace chorus::test
