// SPDX-License-Identifier: Apache-2.0
#include "device/nccl.hpp"

#include "base/shared_object.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

namespace chorus {
namespace {

constexpr const char* nccl_variable = "CHORUS_NCCL_LIBRARY";
constexpr int oldest = 21800;  // the first with ncclCommSplit

Nccl load() {
  const SharedObject library(SharedObject::file(nccl_variable, "libnccl.so.2"), nccl_variable, "NCCL's collectives");
  Nccl nccl;
  library.find(nccl.get_version, "ncclGetVersion");
  if (nccl.get_version(&nccl.version) != ncclSuccess || nccl.version < oldest) {
    throw Error(ErrorCode::not_supported,
                fmt::format("NCCL's version is {}; install {} (2.18) or a later one", nccl.version, oldest));
  }
  library.find(nccl.get_unique_id, "ncclGetUniqueId");
  library.find(nccl.comm_init_rank_config, "ncclCommInitRankConfig");
  library.find(nccl.comm_split, "ncclCommSplit");
  library.find(nccl.comm_user_rank, "ncclCommUserRank");
  library.find(nccl.comm_count, "ncclCommCount");
  library.find(nccl.comm_destroy, "ncclCommDestroy");
  library.find(nccl.comm_abort, "ncclCommAbort");
  library.find(nccl.comm_get_async_error, "ncclCommGetAsyncError");
  library.find(nccl.get_error_string, "ncclGetErrorString");
  library.find(nccl.get_last_error, "ncclGetLastError");
  library.find(nccl.all_reduce, "ncclAllReduce");
  library.find(nccl.broadcast, "ncclBroadcast");
  library.find(nccl.reduce, "ncclReduce");
  library.find(nccl.all_gather, "ncclAllGather");
  library.find(nccl.reduce_scatter, "ncclReduceScatter");
  library.find(nccl.red_op_create_pre_mul_sum, "ncclRedOpCreatePreMulSum");
  library.find(nccl.red_op_destroy, "ncclRedOpDestroy");
  library.find(nccl.send, "ncclSend");
  library.find(nccl.recv, "ncclRecv");
  library.find(nccl.group_start, "ncclGroupStart");
  library.find(nccl.group_end, "ncclGroupEnd");
  return nccl;
}

}  // namespace

void Nccl::check(ncclResult_t result, ncclComm_t comm) const {
  if (result == ncclSuccess) return;
  const char* const last = get_last_error(comm);
  throw Error(ErrorCode::transport,
              fmt::format("NCCL: {}{}{}; NCCL_DEBUG=WARN makes it say more", get_error_string(result),
                          last != nullptr && *last != '\0' ? ": " : "", last != nullptr ? last : ""));
}

const Nccl& nccl() {
  static const Nccl entries = load();
  return entries;
}

}  // namespace chorus
