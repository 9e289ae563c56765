// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"

#include "nccl_call.hpp"

#include <utility>

// ncclGroupStart and ncclGroupEnd.
namespace chorus::test::doubles {
namespace {

/// The first failure of two results; otherwise whether something is still under way.
ncclResult_t join(ncclResult_t first, ncclResult_t second) {
  if (first != ncclSuccess && first != ncclInProgress) return first;
  return second == ncclSuccess ? first : second;
}

ncclResult_t run(const Group& group, Lock& lock) {
  if (group.error != ncclSuccess) return group.error;
  if (!group.meetings.empty() && !group.operations.empty()) {
    return fault(ncclInvalidUsage, "ncclGroupEnd", "a group both makes communicators and moves data");
  }
  ncclResult_t result = ncclSuccess;
  for (const Meeting& meeting : group.meetings) result = join(result, meeting.begin());
  for (const Meeting& meeting : group.meetings) result = join(result, meeting.end(lock));
  return group.operations.empty() ? result : launch(group.operations, lock);
}

}  // namespace

Group& this_group() {
  thread_local Group group;
  return group;
}

ncclResult_t meet(const Meeting& meeting, Lock& lock) {
  if (group_depth() > 0) {
    this_group().meetings.push_back(meeting);
    return ncclSuccess;
  }
  const ncclResult_t begun = meeting.begin();
  return join(begun, meeting.end(lock));
}

ncclResult_t issue(const Operation& operation, Lock& lock) {
  if (group_depth() == 0) return launch({operation}, lock);
  this_group().operations.push_back(operation);
  return ncclSuccess;
}

}  // namespace chorus::test::doubles

using namespace chorus::test::doubles;

extern "C" {

ncclResult_t ncclGroupStart() {
  return nccl_call({.function = "ncclGroupStart"}, nullptr, [&](Lock&) {
    ++group_depth();
    return ncclSuccess;
  });
}

ncclResult_t ncclGroupEnd() {
  return nccl_call({.function = "ncclGroupEnd"}, nullptr, [&](Lock& lock) {
    if (group_depth() == 0) return fault(ncclInvalidUsage, "ncclGroupEnd", "not in a group call");
    if (--group_depth() > 0) return ncclSuccess;
    return run(std::exchange(this_group(), {}), lock);
  });
}

}  // extern "C"
