// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "communicators.hpp"
#include "double.hpp"
#include "recorder.hpp"
#include "shared.hpp"

#include <nccl.h>

#include <cstdint>
#include <utility>

// What every exported function of NCCL begins and ends with.
namespace chorus::test::doubles {

/// Records a call on `comm`, which may be null or unknown, and gives its number.
[[nodiscard]] std::uint64_t record_call(DeviceCall& call, ncclComm_t comm);
/// Why a call is refused before its arguments are looked at, or ncclSuccess.
[[nodiscard]] ncclResult_t refusal(const DeviceCall& call);
/// Remembers what it returned, also for the group that it is in.
ncclResult_t finish_call(std::uint64_t number, ncclResult_t result);

/// Records `call`, and calls `body` under the lock unless the call is refused.
template <typename Body>
ncclResult_t nccl_call(DeviceCall call, ncclComm_t comm, Body body) {
  Lock lock(guard());
  const auto number = record_call(call, comm);
  ncclResult_t result = refusal(call);
  if (result == ncclSuccess) result = body(lock);
  return finish_call(number, result);
}

}  // namespace chorus::test::doubles
