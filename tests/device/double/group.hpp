// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operations.hpp"
#include "shared.hpp"

#include <nccl.h>

#include <functional>
#include <vector>

// What a thread has called since its outermost ncclGroupStart.
namespace chorus::test::doubles {

/// The making of a communicator: all of a group begin before one is waited for.
struct Meeting {
  std::function<ncclResult_t()> begin;
  std::function<ncclResult_t(Lock&)> end;  ///< waits, if the communicator blocks
};

struct Group {
  std::vector<Operation> operations = {};
  std::vector<Meeting> meetings = {};
  ncclResult_t error = ncclSuccess;  ///< the first of a call within the group, which then does nothing
};
[[nodiscard]] Group& this_group();

/// Runs a meeting, or keeps it for the end of the group.
ncclResult_t meet(const Meeting& meeting, Lock& lock);
/// Launches an operation, or keeps it for the end of the group.
ncclResult_t issue(const Operation& operation, Lock& lock);

}  // namespace chorus::test::doubles
