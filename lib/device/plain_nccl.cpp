// SPDX-License-Identifier: Apache-2.0
#include "device/plain_nccl.hpp"

#include "device/cuda.hpp"
#include "device/nccl.hpp"
#include "device/nccl_types.hpp"

#include <chorus/error.hpp>

#include <algorithm>
#include <cstring>

namespace chorus {
namespace {

ncclComm_t native(void* comm) noexcept { return static_cast<ncclComm_t>(comm); }

}  // namespace

/// A block for each peer, or for the root alone.
struct PlainNccl::Blocks {
  std::byte* data = nullptr;
  bool one_each = false;  ///< one for each rank, which lie one after another
  bool exchanged = true;  ///< with every rank; else with the root alone

  [[nodiscard]] bool with(int peer, int root) const noexcept { return exchanged || peer == root; }
  [[nodiscard]] std::byte* of(int peer, std::size_t bytes) const noexcept {
    return data + (one_each ? static_cast<std::size_t>(peer) * bytes : 0);
  }
};

std::string PlainNccl::new_address() {
  ncclUniqueId id{};
  nccl().check(nccl().get_unique_id(&id), nullptr);
  return {id.internal, sizeof id.internal};
}

PlainNccl::PlainNccl(const std::string& address, int rank, int ranks) : rank_(rank), ranks_(ranks) {
  ncclUniqueId id{};
  std::memcpy(id.internal, address.data(), std::min(address.size(), sizeof id.internal));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;  // what ncclCommInitRank takes
  ncclComm_t comm = nullptr;
  nccl().check(nccl().comm_init_rank_config(&comm, ranks, id, rank, &config), nullptr);
  comm_ = comm;
}

PlainNccl::~PlainNccl() { nccl().comm_destroy(native(comm_)); }

void PlainNccl::queue(const Call& call, const std::byte* in, std::byte* out, Stream opaque) const {
  const Nccl& entries = nccl();
  auto* const stream = static_cast<CUstream>(opaque.native());
  ncclComm_t const comm = native(comm_);
  const ncclDataType_t type = nccl_type(call.type);
  auto* const source = const_cast<std::byte*>(in);  // which nothing writes
  const bool is_root = rank_ == call.root;
  switch (call.collective) {
    case Collective::bcast:
      return entries.check(entries.broadcast(out, out, call.count, type, call.root, comm, stream), comm);
    case Collective::reduce:
      return entries.check(entries.reduce(in, out, call.count, type, nccl_op(call.op), call.root, comm, stream), comm);
    case Collective::allreduce:
      return entries.check(entries.all_reduce(in, out, call.count, type, nccl_op(call.op), comm, stream), comm);
    case Collective::allgather:
      return entries.check(entries.all_gather(in, out, call.count, type, comm, stream), comm);
    case Collective::reduce_scatter_block:
      return entries.check(entries.reduce_scatter(in, out, call.count, type, nccl_op(call.op), comm, stream), comm);
    case Collective::alltoall:
      return exchange(call, {source, true}, {out, true}, opaque.native());
    case Collective::gather:
      return exchange(call, {source, false, false}, {is_root ? out : nullptr, true}, opaque.native());
    case Collective::scatter:
      return exchange(call, {is_root ? source : nullptr, true}, {out, false, false}, opaque.native());
    default:
      throw Error(ErrorCode::not_supported, "NCCL has no such collective");
  }
}

void PlainNccl::exchange(const Call& call, const Blocks& in, const Blocks& out, void* stream) const {
  const Nccl& entries = nccl();
  ncclComm_t const comm = native(comm_);
  const ncclDataType_t type = nccl_type(call.type);
  ncclResult_t first = entries.group_start();
  const auto note = [&](ncclResult_t result) { first = first == ncclSuccess ? result : first; };
  for (int peer = 0; peer < ranks_; ++peer) {
    if (in.data != nullptr && in.with(peer, call.root)) {
      note(entries.send(in.of(peer, call.bytes()), call.count, type, peer, comm, static_cast<CUstream>(stream)));
    }
    if (out.data != nullptr && out.with(peer, call.root)) {
      note(entries.recv(out.of(peer, call.bytes()), call.count, type, peer, comm, static_cast<CUstream>(stream)));
    }
  }
  note(entries.group_end());
  entries.check(first, comm);
}

}  // namespace chorus
