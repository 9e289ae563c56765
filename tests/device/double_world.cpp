// SPDX-License-Identifier: Apache-2.0
// The devices that the doubles of CUDA and NCCL pretend.
#include "device/device_world.hpp"
#include "device/double/double.hpp"
#include "device/test_memory.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace chorus::test {

void begin_world() {
  clear();
  check(cuInit(0));
  set_delay(std::chrono::microseconds(20));
}

void enter_world(int rank) { set_label("rank " + std::to_string(rank)); }

void end_world() {
  for (const std::string& fault : faults()) ADD_FAILURE() << fault;
  clear();  // what waits in NCCL for a rank that never comes ends now
  for (int wait = 0; wait < 2000 && leaks().communicators > 0; ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  Leaks left = leaks();
  left.retained_contexts = left.modules = 0;  // which stay as long as the process
  EXPECT_EQ(left, Leaks());
}

}  // namespace chorus::test
