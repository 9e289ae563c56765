// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device_ranks.hpp"
#include "device/test_memory.hpp"
#include "transport/threads.hpp"
#include "worlds/outcome.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace chorus::test {

/// A rank's stream and memory.
struct Vector {
  static constexpr std::size_t count = 50;
  TestStream stream;
  DeviceMemory memory{bytes_of_all(std::vector<float>(count, 1))};

  void reduce(const Communicator& comm, ReduceOp op, const CollectiveOptions& options = {}) const {
    allreduce(comm, memory.span<float>(), op, stream.get(), options);
  }
  [[nodiscard]] Outcome outcome(const Communicator& comm, ReduceOp op, const CollectiveOptions& options = {}) const {
    return outcome_of([&] {
      reduce(comm, op, options);
      synchronize(comm, stream.get());
    });
  }
};

/// The two ranks of `world` that NCCL has connected for sums.
inline void on_connected_ranks(const ThreadWorld& world,
                               const std::function<void(const Communicator&, const Vector&)>& body) {
  const auto make = [&world] { return std::vector{world.communicator(0), world.communicator(1)}; };
  on_device_ranks(make, Devices::own, [&](const Communicator& comm) {
    const Vector vector;
    EXPECT_FALSE(vector.outcome(comm, ReduceOp::sum).code);
    barrier(comm);
    body(comm, vector);
  });
}

inline void on_connected_ranks(const std::function<void(const Communicator&, const Vector&)>& body) {
  on_connected_ranks(ThreadWorld({.ranks = 2}), body);
}

}  // namespace chorus::test
