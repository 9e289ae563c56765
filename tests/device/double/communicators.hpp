// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "memory.hpp"
#include "shared.hpp"

#include <cuda.h>
#include <nccl.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// The communicators of the double of NCCL. All under the lock.
namespace chorus::test::doubles {

struct Communicator;
struct Exchange;

/// How a rank scales what it gives to a sum: ncclRedOpCreatePreMulSum.
struct Scale {
  ncclDataType_t type = ncclFloat32;
  std::array<std::byte, 8> value = {};
  std::uintptr_t device_address = 0;  ///< 0: `value` is it; otherwise it is read when the operation runs
};

/// What a rank says to ncclCommSplit.
struct SplitCall {
  int color = 0;
  int key = 0;
  std::shared_ptr<Communicator> child = nullptr;  ///< null: it takes part in none
};

/// The ranks of one communicator. Those are weak that hold it themselves.
struct Clique {
  int number = -1;
  int ranks = 0;
  std::vector<std::weak_ptr<Communicator>> members = {};  ///< by rank
  int joined = 0;
  bool complete = false;
  ncclResult_t result = ncclSuccess;                    ///< of the meeting
  std::chrono::steady_clock::time_point shown_at = {};  ///< when ranks that do not block learn of it
  std::map<std::uint64_t, std::weak_ptr<Exchange>> collectives = {};
  std::map<std::array<std::uint64_t, 3>, std::weak_ptr<Exchange>> pairs = {};  ///< by sender, receiver and turn
  std::map<std::uint64_t, std::map<int, SplitCall>> splits = {};
};

/// One rank of a communicator.
struct Communicator {
  ncclComm_t handle = nullptr;
  int rank = -1;
  int device = -1;
  bool blocking = true;
  std::shared_ptr<Clique> clique = nullptr;
  bool seen_ready = false;  ///< ncclCommGetAsyncError has said so
  bool finalized = false;
  bool aborted = false;
  bool destroyed = false;
  ncclResult_t error = ncclSuccess;  ///< that the test has set
  int splits_under_way = 0;
  int launches_under_way = 0;
  int moving = 0;  ///< exchanges whose data is being moved
  std::uint64_t next_collective = 0;
  std::uint64_t next_split = 0;
  std::map<int, std::uint64_t> next_send = {};  ///< by peer
  std::map<int, std::uint64_t> next_recv = {};
  std::map<int, Scale> reduce_ops = {};
  std::vector<std::function<void()>> slow_launches = {};
  std::chrono::steady_clock::time_point slow_until = {};
};

/// Says that a call fails, for ncclGetLastError, and gives `result`.
ncclResult_t fail(ncclResult_t result, const std::string& why);
/// Records a fault of `function` and fails.
ncclResult_t fault(ncclResult_t result, const std::string& function, const std::string& what);
[[nodiscard]] const char* last_error();

/// The living communicator of a handle, or null.
[[nodiscard]] std::shared_ptr<Communicator> known_communicator(ncclComm_t handle);
[[nodiscard]] std::shared_ptr<Communicator> make_communicator(int device, const ncclConfig_t* config, bool blocking);
/// Takes it from those that live.
void forget_communicator(Communicator& comm);
[[nodiscard]] int new_clique_number();
/// Tells the ranks that have met.
void complete(Clique& clique, ncclResult_t result);

/// What ncclCommGetAsyncError says of it.
[[nodiscard]] ncclResult_t state_of(const Communicator& comm);
/// True where another communicator has operations under way on the same device.
[[nodiscard]] bool is_busy_beside(const Communicator& comm);
/// Finds a communicator that may be used; otherwise records what is wrong.
ncclResult_t find_communicator(const std::string& function, ncclComm_t handle, std::shared_ptr<Communicator>& found);

struct NcclSettings {
  int version = NCCL_VERSION_CODE;
  bool slow_launch = false;
  bool stalls = false;
  bool abort_waits = false;
  std::vector<int> never_arrive = {};  ///< devices
};
[[nodiscard]] NcclSettings& nccl_settings();

}  // namespace chorus::test::doubles
