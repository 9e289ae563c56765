// SPDX-License-Identifier: Apache-2.0
#include "communicators.hpp"

#include "contexts.hpp"
#include "double.hpp"
#include "recorder.hpp"

#include <algorithm>
#include <mutex>
#include <set>

namespace chorus::test {
namespace doubles {
namespace {

using Communicators = std::map<ncclComm_t, std::shared_ptr<Communicator>>;

/// Those that live; newer handles are greater.
Communicators& registry() {
  static auto& all = *new Communicators;
  return all;
}

const std::string*& latest_error() {
  static const std::string* text = nullptr;
  return text;
}

}  // namespace

ncclResult_t fail(ncclResult_t result, const std::string& why) {
  // Kept for ever, as the caller of ncclGetLastError may read it at any time.
  static auto& all = *new std::set<std::string>;
  latest_error() = &*all.insert(why).first;
  return result;
}

ncclResult_t fault(ncclResult_t result, const std::string& function, const std::string& what) {
  record_fault(function + ": " + what);
  return fail(result, what);
}

const char* last_error() { return latest_error() == nullptr ? "" : latest_error()->c_str(); }

std::shared_ptr<Communicator> known_communicator(ncclComm_t handle) {
  const auto found = registry().find(handle);
  return found == registry().end() ? nullptr : found->second;
}

std::shared_ptr<Communicator> make_communicator(int device, const ncclConfig_t* config, bool blocking) {
  const auto comm = std::make_shared<Communicator>();
  comm->handle = static_cast<ncclComm_t>(new_handle());
  comm->device = device;
  comm->blocking = config == nullptr || config->blocking == NCCL_CONFIG_UNDEF_INT ? blocking : config->blocking != 0;
  comm->clique = std::make_shared<Clique>();
  registry()[comm->handle] = comm;
  ++living().communicators;
  return comm;
}

void forget_communicator(Communicator& comm) {
  living().reduce_ops -= static_cast<int>(comm.reduce_ops.size());
  comm.reduce_ops.clear();
  comm.slow_launches.clear();
  if (registry().erase(comm.handle) > 0) --living().communicators;
  changed().notify_all();
}

int new_clique_number() {
  static int numbers = 0;
  return numbers++;
}

void complete(Clique& clique, ncclResult_t result) {
  clique.complete = true;
  clique.result = result;
  clique.shown_at = std::chrono::steady_clock::now() + settings().delay;
  changed().notify_all();
}

ncclResult_t state_of(const Communicator& comm) {
  const auto now = std::chrono::steady_clock::now();
  if (comm.error != ncclSuccess) return comm.error;
  if (!comm.clique->complete || (!comm.blocking && now < comm.clique->shown_at)) return ncclInProgress;
  if (comm.clique->result != ncclSuccess) return comm.clique->result;
  const bool finishing = comm.finalized && comm.launches_under_way > 0;
  return finishing || comm.splits_under_way > 0 || !comm.slow_launches.empty() ? ncclInProgress : ncclSuccess;
}

ncclResult_t find_communicator(const std::string& function, ncclComm_t handle, std::shared_ptr<Communicator>& found) {
  found = known_communicator(handle);
  if (handle == nullptr) return fault(ncclInvalidArgument, function, "the communicator is null");
  if (found == nullptr) {
    return fault(ncclInvalidArgument, function, "the communicator is unknown, or has been destroyed or aborted");
  }
  if (found->finalized) return fault(ncclInvalidUsage, function, "the communicator has been finalized");
  const ncclResult_t state = state_of(*found);
  if (state == ncclInProgress) {
    return fault(ncclInvalidArgument, function,
                 "Attempt to use communicator before the previous operation returned ncclSuccess");
  }
  if (found->error != ncclSuccess) return fail(found->error, "the communicator has met an asynchronous error");
  if (state != ncclSuccess) return fault(state, function, "the communicator could not be made");
  if (!found->blocking && !found->seen_ready) {
    return fault(ncclInvalidArgument, function,
                 "ncclCommGetAsyncError has not yet said that the communicator is ready");
  }
  return ncclSuccess;
}

bool is_busy_beside(const Communicator& comm) {
  return std::ranges::any_of(registry(), [&](const auto& entry) {
    const Communicator& other = *entry.second;
    return &other != &comm && other.device == comm.device && !other.aborted && other.launches_under_way > 0;
  });
}

NcclSettings& nccl_settings() {
  static auto& all = *[] {
    at_clear([] { nccl_settings() = {}; });
    return new NcclSettings;
  }();
  return all;
}

}  // namespace doubles

using namespace doubles;

void set_nccl_version(int version) {
  const Lock lock(guard());
  nccl_settings().version = version;
}

void set_never_arrives(int device) {
  const Lock lock(guard());
  nccl_settings().never_arrive.push_back(device);
}

void set_slow_launch(bool slow) {
  const Lock lock(guard());
  nccl_settings().slow_launch = slow;
}

std::vector<CommunicatorInfo> communicators() {
  const Lock lock(guard());
  std::vector<CommunicatorInfo> all;
  for (const auto& [handle, comm] : registry()) {
    all.push_back({.communicator = comm->clique->number,
                   .rank = comm->rank,
                   .ranks = comm->clique->ranks,
                   .device = comm->device,
                   .handle = handle});
  }
  return all;
}

void set_stalls(bool stalls) {
  const Lock lock(guard());
  nccl_settings().stalls = stalls;
}

void set_abort_waits(bool waits) {
  const Lock lock(guard());
  nccl_settings().abort_waits = waits;
}

void set_async_error(int communicator, int rank, int result) {
  const Lock lock(guard());
  for (const auto& [handle, comm] : registry()) {
    if (comm->clique->number == communicator && comm->rank == rank) comm->error = static_cast<ncclResult_t>(result);
  }
  changed().notify_all();
}

}  // namespace chorus::test
