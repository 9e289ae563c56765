// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/test_memory.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace chorus::test {

inline constexpr const char* window_algorithms[] = {"ipc_one_shot", "ipc_two_shot"};

/// Calls of which none is waited for, each in another stream than the one before, by both algorithms in turn.
inline void check_calls_in_flight(const Communicator& comm, const std::string& first) {
  const std::size_t count = 5000;
  const int calls = 12;
  const TestStream streams[3];
  std::vector<std::unique_ptr<DeviceMemory>> vectors;
  for (int call = 0; call < calls; ++call) {
    vectors.push_back(std::make_unique<DeviceMemory>(bytes_of_all(std::vector<double>(count, comm.rank() + 1 + call))));
  }
  for (int call = 0; call < calls; ++call) {
    const char* const algorithm =
        (first == window_algorithms[0]) == (call % 5 < 3) ? window_algorithms[0] : window_algorithms[1];
    allreduce(comm, vectors[static_cast<std::size_t>(call)]->span<double>(), ReduceOp::sum, streams[call % 3].get(),
              {.algorithm = algorithm});
  }
  for (const TestStream& stream : streams) stream.wait();
  for (int call = 0; call < calls; ++call) {
    EXPECT_EQ(elements<double>(*vectors[static_cast<std::size_t>(call)]),
              std::vector<double>(count, comm.size() * ((comm.size() + 1) / 2.0 + call)))
        << "call " << call << " on rank " << comm.rank();
  }
}

}  // namespace chorus::test
