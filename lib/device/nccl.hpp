// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nccl.h>

namespace chorus {

/// The entries of NCCL that chorus calls. NCCL is loaded when they are first asked for.
struct Nccl {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = nullptr;
  decltype(&ncclCommSplit) comm_split = nullptr;
  decltype(&ncclCommUserRank) comm_user_rank = nullptr;
  decltype(&ncclCommCount) comm_count = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclRedOpCreatePreMulSum) red_op_create_pre_mul_sum = nullptr;
  decltype(&ncclRedOpDestroy) red_op_destroy = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  int version = 0;  ///< 22809 is 2.28.9

  /// Throws Error{transport} where `result`, of a call with `comm`, is a failure; null before there is one.
  void check(ncclResult_t result, ncclComm_t comm) const;
};

/// Throws Error{not_supported} where there is no NCCL, or one that is too old.
[[nodiscard]] const Nccl& nccl();

}  // namespace chorus
