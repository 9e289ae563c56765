// SPDX-License-Identifier: Apache-2.0
#include "contexts.hpp"
#include "group.hpp"
#include "nccl_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

// ncclGetUniqueId and ncclCommInitRankConfig: how ranks meet.
namespace {

using namespace chorus::test::doubles;

constexpr std::string_view mark = "chorus double ";

/// The cliques of the identifiers that were given; null: its ranks have met.
std::map<int, std::shared_ptr<Clique>>& meeting_points() {
  static auto& all = *new std::map<int, std::shared_ptr<Clique>>;
  return all;
}

ncclUniqueId id_of(int number) {
  ncclUniqueId id = {};
  std::memcpy(id.internal, mark.data(), mark.size());
  std::memcpy(id.internal + mark.size(), &number, sizeof number);
  return id;
}

/// -1: the identifier is not from ncclGetUniqueId of this process.
int number_of(const ncclUniqueId& id) {
  int number = -1;
  if (std::memcmp(id.internal, mark.data(), mark.size()) == 0) {
    std::memcpy(&number, id.internal + mark.size(), sizeof number);
  }
  return meeting_points().contains(number) ? number : -1;
}

/// Completes a meeting: all ranks have come.
void conclude(Clique& clique) {
  std::map<int, int> rank_of_device;
  ncclResult_t result = ncclSuccess;
  for (const auto& member : clique.members) {
    const auto comm = member.lock();
    if (comm == nullptr) continue;
    const auto [before, first] = rank_of_device.emplace(comm->device, comm->rank);
    if (first) continue;
    result = fail(ncclInvalidUsage, fmt::format("Duplicate GPU detected : rank {} and rank {} both on CUDA device {:x}",
                                                comm->rank, before->second, 0x1a000 + 0x11000 * comm->device));
  }
  complete(clique, result);
}

ncclResult_t join(const std::shared_ptr<Communicator>& comm, int number, int ranks) {
  const std::string function = "ncclCommInitRankConfig";
  if (std::ranges::count(nccl_settings().never_arrive, comm->device) > 0) return ncclSuccess;
  auto& clique = meeting_points()[number];
  if (clique == nullptr) return fault(ncclInvalidUsage, function, "the ranks of this ncclUniqueId have met already");
  if (clique->ranks == 0) {
    clique->ranks = ranks;
    clique->members.resize(static_cast<std::size_t>(ranks));
  }
  if (clique->ranks != ranks) return fault(ncclInvalidArgument, function, "the ranks differ in how many they are");
  auto& place = clique->members[static_cast<std::size_t>(comm->rank)];
  if (place.lock() != nullptr) return fault(ncclInvalidUsage, function, fmt::format("rank {} comes twice", comm->rank));
  place = comm;
  comm->clique = clique;
  if (++clique->joined < ranks) return ncclSuccess;
  const auto met = clique;
  clique = nullptr;
  conclude(*met);
  return ncclSuccess;
}

/// Waits if the communicator blocks; gives it up if it could not be made.
ncclResult_t await(const std::shared_ptr<Communicator>& comm, ncclResult_t joined, ncclComm_t* handle, Lock& lock) {
  if (joined == ncclSuccess && !comm->blocking) return ncclInProgress;
  ncclResult_t result = joined;
  if (joined == ncclSuccess) {
    const int era = settings().era;
    changed().wait(lock, [&] { return comm->clique->complete || settings().era != era; });
    result = comm->clique->complete ? comm->clique->result : fail(ncclSystemError, "the test has ended the wait");
  }
  if (result == ncclSuccess) return result;
  forget_communicator(*comm);
  *handle = nullptr;
  return result;
}

bool is_initialized(const ncclConfig_t* config) {
  return config == nullptr || (config->magic == 0xcafebeef && config->size <= sizeof(ncclConfig_t));
}

}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return nccl_call({.function = "ncclGetUniqueId"}, nullptr, [&](Lock&) {
    if (id == nullptr) return fail(ncclInvalidArgument, "ncclGetUniqueId: null");
    const auto clique = std::make_shared<Clique>();
    clique->number = new_clique_number();
    meeting_points()[clique->number] = clique;
    *id = id_of(clique->number);
    return ncclSuccess;
  });
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* handle, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  return nccl_call({.function = "ncclCommInitRankConfig", .rank = rank}, nullptr, [&](Lock& lock) {
    const std::string function = "ncclCommInitRankConfig";
    if (handle == nullptr || !is_initialized(config)) {
      return fail(ncclInvalidArgument, function + ": a null communicator, or no NCCL_CONFIG_INITIALIZER");
    }
    if (ranks < 1 || rank < 0 || rank >= ranks) {
      return fail(ncclInvalidArgument, fmt::format("{}: invalid rank requested : {}/{}", function, rank, ranks));
    }
    const int device = current_device();
    if (device < 0) return fault(ncclUnhandledCudaError, function, "no context is current");
    const int number = number_of(id);
    if (number < 0) return fault(ncclInvalidArgument, function, "the ncclUniqueId is unknown in this process");
    const auto comm = make_communicator(device, config, true);
    comm->rank = rank;
    *handle = comm->handle;
    const auto joined = std::make_shared<ncclResult_t>(ncclSuccess);
    return meet({.begin = [=] { return *joined = join(comm, number, ranks); },
                 .end = [=](Lock& held) { return await(comm, *joined, handle, held); }},
                lock);
  });
}

}  // extern "C"
