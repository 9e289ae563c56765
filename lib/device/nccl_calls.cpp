// SPDX-License-Identifier: Apache-2.0
#include "device/nccl_calls.hpp"

#include "base/names.hpp"
#include "device/nccl.hpp"
#include "device/nccl_types.hpp"
#include "device/sections_of.hpp"
#include "device/stream_scratch.hpp"

#include <chorus/error.hpp>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace chorus {
namespace {

/// By the prime of FNV-1a, as http://www.isthe.com/chongo/tech/comp/fnv gives it.
constexpr std::uint64_t joined(std::uint64_t hash, std::uint64_t value) noexcept {
  return (hash ^ value) * 0x100000001B3U;
}

}  // namespace

NcclCalls::NcclCalls(ncclComm_t comm, std::shared_ptr<const std::atomic<bool>> is_aborted)
    : nccl_(&nccl()), comm_(comm), is_aborted_(std::move(is_aborted)) {
  check(nccl_->comm_user_rank(comm_, &rank_));
  check(nccl_->comm_count(comm_, &ranks_));
}

void NcclCalls::stop_if_aborted() const {
  if (is_aborted_->load()) throw Error(ErrorCode::transport, "NCCL has been aborted");
}

void NcclCalls::check(ncclResult_t result) const {
  stop_if_aborted();
  nccl_->check(result, comm_);
}

std::uint64_t NcclCalls::kind_of(const Call& call, const Native::Buffers& buffers) noexcept {
  std::uint64_t kind = 0xCBF29CE484222325U;
  std::size_t longest = call.bytes();
  for (const std::span<const Section> sections : {buffers.in_sections, buffers.out_sections}) {
    for (const Section& section : sections) {
      kind = joined(kind, section.bytes > 0 ? 1 : 0);
      longest = std::max(longest, section.bytes);
    }
  }
  for (const auto part :
       {static_cast<std::uint64_t>(call.collective), static_cast<std::uint64_t>(call.type),
        static_cast<std::uint64_t>(call.op), static_cast<std::uint64_t>(has_root(call.collective) ? call.root : 0),
        static_cast<std::uint64_t>(std::bit_width(longest))}) {
    kind = joined(kind, part);
  }
  return kind;
}

template <class Parts>
void NcclCalls::in_one(const Parts& parts) const {
  stop_if_aborted();  // before the group is open: it has to be closed
  nccl_->check(nccl_->group_start(), comm_);
  ncclResult_t first = ncclSuccess;
  parts([&first](ncclResult_t result) {
    if (first == ncclSuccess) first = result;
  });
  const ncclResult_t all = nccl_->group_end();
  check(first);
  check(all);
}

void NcclCalls::exchange(const Call& call, const Native::Buffers& buffers, CUstream stream) const {
  const ExchangedSections sections = sections_of(call, buffers, rank_, ranks_);
  const bool in_place = buffers.in == buffers.out;
  const bool all_change = call.collective == Collective::alltoall || call.collective == Collective::alltoallv;
  const std::byte* in = buffers.in;
  std::optional<StreamScratch> copy;
  if (in_place && all_change) in = copy.emplace(extent_of(sections.in), stream).filled_from(buffers.in);
  const auto address = [](const std::byte* base, const Section& section) { return base + section.offset; };
  in_one([&](const auto& note) {
    for (int step = 0; step < ranks_; ++step) {
      const int to = (rank_ + step) % ranks_;
      const int from = (rank_ + ranks_ - step) % ranks_;
      const Section& sent = sections.in[static_cast<std::size_t>(to)];
      const Section& got = sections.out[static_cast<std::size_t>(from)];
      const bool stays = step == 0 && address(in, sent) == address(buffers.out, got);
      if (stays) continue;
      if (sent.bytes > 0) note(nccl_->send(address(in, sent), sent.bytes, ncclUint8, to, comm_, stream));
      if (got.bytes > 0) note(nccl_->recv(buffers.out + got.offset, got.bytes, ncclUint8, from, comm_, stream));
    }
  });
}

void NcclCalls::reduce_sections(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op,
                                CUstream stream) const {
  const Section& own = buffers.in_sections[static_cast<std::size_t>(rank_)];
  std::byte* out = buffers.out;
  std::optional<StreamScratch> result;  // where it would overwrite what other ranks are still to get
  if (buffers.in == buffers.out && own.bytes > 0) out = result.emplace(own.bytes, stream).data();
  in_one([&](const auto& note) {
    for (int root = 0; root < ranks_; ++root) {
      const Section& section = buffers.in_sections[static_cast<std::size_t>(root)];
      if (section.bytes == 0) continue;
      note(nccl_->reduce(buffers.in + section.offset, out, section.bytes / call.element_bytes(), nccl_type(call.type),
                         op, root, comm_, stream));
    }
  });
  if (result) result->copy_to(buffers.out);
}

void NcclCalls::reduce_scatter_blocks(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op,
                                      CUstream stream) const {
  const bool in_place = buffers.in == buffers.out;
  const std::size_t place = in_place ? static_cast<std::size_t>(rank_) * call.bytes() : 0;  // where NCCL puts it
  std::byte* const out = buffers.out + place;
  check(nccl_->reduce_scatter(buffers.in, out, call.count, nccl_type(call.type), op, comm_, stream));
  if (place > 0) copy_in_stream(buffers.out, out, call.bytes(), stream);
}

void NcclCalls::reduce(const Call& call, const Native::Buffers& buffers, ncclRedOp_t op, CUstream stream) const {
  const ncclDataType_t type = nccl_type(call.type);
  switch (call.collective) {
    case Collective::allreduce:
      return check(nccl_->all_reduce(buffers.in, buffers.out, call.count, type, op, comm_, stream));
    case Collective::reduce:
      return check(nccl_->reduce(buffers.in, buffers.out, call.count, type, op, call.root, comm_, stream));
    case Collective::reduce_scatter_block:
      return reduce_scatter_blocks(call, buffers, op, stream);
    default:
      return reduce_sections(call, buffers, op, stream);
  }
}

void NcclCalls::move(const Call& call, const Native::Buffers& buffers, CUstream stream) const {
  if (call.collective == Collective::bcast) {
    return check(nccl_->broadcast(buffers.in, buffers.out, call.bytes(), ncclUint8, call.root, comm_, stream));
  }
  if (call.collective == Collective::allgather) {
    const bool in_place = buffers.in == buffers.out;
    const std::byte* const own = buffers.in + (in_place ? static_cast<std::size_t>(rank_) * call.bytes() : 0);
    return check(nccl_->all_gather(own, buffers.out, call.bytes(), ncclUint8, comm_, stream));
  }
  exchange(call, buffers, stream);
}

void NcclCalls::put(const Call& call, const Native::Buffers& buffers, const void* factor, CUstream stream) const {
  if (!has_op(call.collective)) {
    move(call, buffers, stream);
  } else if (factor == nullptr) {
    reduce(call, buffers, nccl_op(call.op), stream);
  } else {
    reduce_multiplied(call, buffers, factor, stream);
  }
}

void NcclCalls::reduce_multiplied(const Call& call, const Native::Buffers& buffers, const void* factor,
                                  CUstream stream) const {
  ncclRedOp_t op{};
  check(nccl_->red_op_create_pre_mul_sum(&op, const_cast<void*>(factor), nccl_type(call.type), ncclScalarHostImmediate,
                                         comm_));
  reduce(call, buffers, op, stream);
  check(nccl_->red_op_destroy(op, comm_));
}

}  // namespace chorus
