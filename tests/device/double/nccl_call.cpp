// SPDX-License-Identifier: Apache-2.0
#include "nccl_call.hpp"

#include "contexts.hpp"
#include "group.hpp"

#include <memory>

namespace chorus::test::doubles {

std::uint64_t record_call(DeviceCall& call, ncclComm_t comm) {
  if (const auto known = known_communicator(comm); known != nullptr) {
    call.device = known->device;
    call.communicator = known->clique->number;
    call.rank = known->rank;
  } else {
    call.device = current_device();
  }
  return record(call);
}

ncclResult_t refusal(const DeviceCall& call) {
  if (const int failure = injected_failure(call.function, call.device); failure != 0) {
    // A group is over where its end fails, too.
    if (call.function == "ncclGroupEnd" && group_depth() > 0 && --group_depth() == 0) this_group() = {};
    return fail(static_cast<ncclResult_t>(failure), "a failure of " + call.function + " that the test asked for");
  }
  if (in_host_function()) {
    return fault(ncclInvalidUsage, call.function, "called in a function of cuLaunchHostFunc");
  }
  return ncclSuccess;
}

ncclResult_t finish_call(std::uint64_t number, ncclResult_t result) {
  record_result(number, result);
  const bool failed = result != ncclSuccess && result != ncclInProgress;
  if (failed && group_depth() > 0 && this_group().error == ncclSuccess) this_group().error = result;
  return result;
}

}  // namespace chorus::test::doubles
