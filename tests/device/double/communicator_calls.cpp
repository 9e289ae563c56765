// SPDX-License-Identifier: Apache-2.0
#include "nccl_call.hpp"

#include <chrono>
#include <memory>
#include <utility>

// ncclComm... of a communicator that is there, and how it ends.
namespace {

using namespace chorus::test::doubles;

/// Gives what `value` reads from a communicator that may be used.
template <typename Value>
ncclResult_t tell(const char* function, ncclComm_t handle, int* to, Value value) {
  return nccl_call({.function = function}, handle, [&](Lock&) {
    if (to == nullptr) return fail(ncclInvalidArgument, std::string(function) + ": null");
    std::shared_ptr<Communicator> comm;
    const ncclResult_t result = find_communicator(function, handle, comm);
    if (result == ncclSuccess) *to = value(*comm);
    return result;
  });
}

/// Enqueues what was called while launches were slow, once its time has come.
void launch_what_is_due(Communicator& comm) {
  if (comm.slow_launches.empty() || std::chrono::steady_clock::now() < comm.slow_until) return;
  for (const auto& launch : std::exchange(comm.slow_launches, {})) launch();
}

void wait_for_launches(const Communicator& comm, Lock& lock) {
  changed().wait(lock, [&] { return comm.launches_under_way == 0 || comm.aborted; });
}

ncclResult_t unknown(const char* function) {
  return fault(ncclInvalidArgument, function, "the communicator is null, unknown, or has been destroyed or aborted");
}

}  // namespace

extern "C" {

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  return tell("ncclCommCount", comm, count, [](const Communicator& known) { return known.clique->ranks; });
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  return tell("ncclCommUserRank", comm, rank, [](const Communicator& known) { return known.rank; });
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  return tell("ncclCommCuDevice", comm, device, [](const Communicator& known) { return known.device; });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t* error) {
  return nccl_call({.function = "ncclCommGetAsyncError"}, handle, [&](Lock&) {
    const auto comm = known_communicator(handle);
    if (comm == nullptr) return unknown("ncclCommGetAsyncError");
    if (error == nullptr) return fail(ncclInvalidArgument, "ncclCommGetAsyncError: null");
    launch_what_is_due(*comm);
    *error = state_of(*comm);
    if (*error == ncclSuccess) comm->seen_ready = true;
    return ncclSuccess;
  });
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  return nccl_call({.function = "ncclCommFinalize"}, handle, [&](Lock& lock) {
    std::shared_ptr<Communicator> comm;
    const ncclResult_t result = find_communicator("ncclCommFinalize", handle, comm);
    if (result != ncclSuccess) return result;
    comm->finalized = true;
    if (!comm->blocking) return ncclInProgress;
    wait_for_launches(*comm, lock);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  return nccl_call({.function = "ncclCommDestroy"}, handle, [&](Lock& lock) {
    const auto comm = known_communicator(handle);
    if (comm == nullptr) return unknown("ncclCommDestroy");
    if (state_of(*comm) == ncclInProgress) {
      return fault(ncclInvalidArgument, "ncclCommDestroy",
                   "Attempt to use communicator before the previous operation returned ncclSuccess");
    }
    wait_for_launches(*comm, lock);
    comm->destroyed = true;
    forget_communicator(*comm);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommAbort(ncclComm_t handle) {
  return nccl_call({.function = "ncclCommAbort"}, handle, [&](Lock& lock) {
    const auto comm = known_communicator(handle);
    if (comm == nullptr) return unknown("ncclCommAbort");
    comm->aborted = true;
    changed().notify_all();
    // What has begun to move is not left half done.
    changed().wait(lock, [&] { return comm->moving == 0; });
    changed().wait(lock, [&] { return !nccl_settings().abort_waits || !is_busy_beside(*comm); });
    forget_communicator(*comm);
    return ncclSuccess;
  });
}

}  // extern "C"
