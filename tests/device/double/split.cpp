// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"
#include "nccl_call.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

// ncclCommSplit.
namespace {

using namespace chorus::test::doubles;

/// The ranks of a split, in the order that they have in their new communicators.
using Order = std::vector<std::tuple<int, int, std::shared_ptr<Communicator>>>;

/// Makes one communicator of all `members` of one color.
void make_clique(Order members) {
  std::ranges::sort(members, {},
                    [](const auto& member) { return std::tuple(std::get<0>(member), std::get<1>(member)); });
  const auto clique = std::make_shared<Clique>();
  clique->number = new_clique_number();
  clique->ranks = static_cast<int>(members.size());
  for (const auto& [key, rank, child] : members) {
    child->rank = static_cast<int>(clique->members.size());
    child->clique = clique;
    clique->members.emplace_back(child);
  }
  complete(*clique, ncclSuccess);
}

/// All ranks have called.
void conclude(const Clique& parent, const std::map<int, SplitCall>& calls) {
  std::map<int, Order> colors;
  for (const auto& [rank, call] : calls) {
    if (call.child != nullptr) colors[call.color].emplace_back(call.key, rank, call.child);
  }
  for (const auto& [color, members] : colors) make_clique(members);
  for (const auto& member : parent.members) {
    if (const auto comm = member.lock(); comm != nullptr) --comm->splits_under_way;
  }
  changed().notify_all();
}

ncclResult_t join(const std::shared_ptr<Communicator>& comm, const SplitCall& call) {
  Clique& parent = *comm->clique;
  const std::uint64_t turn = comm->next_split++;
  ++comm->splits_under_way;
  auto& calls = parent.splits[turn];
  calls[comm->rank] = call;
  if (calls.size() < parent.members.size()) return ncclSuccess;
  conclude(parent, calls);
  parent.splits.erase(turn);
  return ncclSuccess;
}

ncclResult_t await(const std::shared_ptr<Communicator>& comm, ncclComm_t* handle, Lock& lock) {
  if (!comm->blocking) return ncclInProgress;
  changed().wait(lock, [&] { return comm->splits_under_way == 0 || comm->aborted; });
  if (!comm->aborted) return ncclSuccess;
  if (const auto child = known_communicator(*handle); child != nullptr) forget_communicator(*child);
  *handle = nullptr;
  return fail(ncclInternalError, "ncclCommSplit: the communicator has been aborted");
}

}  // namespace

extern "C" {

ncclResult_t ncclCommSplit(ncclComm_t handle, int color, int key, ncclComm_t* made, ncclConfig_t* config) {
  return nccl_call({.function = "ncclCommSplit"}, handle, [&](Lock& lock) {
    std::shared_ptr<Communicator> comm;
    const ncclResult_t result = find_communicator("ncclCommSplit", handle, comm);
    if (result != ncclSuccess) return result;
    if (made == nullptr || color < NCCL_SPLIT_NOCOLOR) return fail(ncclInvalidArgument, "ncclCommSplit: invalid color");
    SplitCall call{.color = color, .key = key};
    *made = nullptr;
    if (color != NCCL_SPLIT_NOCOLOR) {
      // Without a configuration the parent's holds; one that does not say it blocks.
      call.child = make_communicator(comm->device, config, config != nullptr || comm->blocking);
      *made = call.child->handle;
    }
    return meet({.begin = [=] { return join(comm, call); }, .end = [=](Lock& held) { return await(comm, made, held); }},
                lock);
  });
}

}  // extern "C"
