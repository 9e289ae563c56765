// SPDX-License-Identifier: Apache-2.0
#include "collectives/prepared_call.hpp"

#include "base/names.hpp"
#include "carry_out.hpp"
#include "collectives/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace chorus::test {
namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::size_t largest_offset = 64;
constexpr std::byte guard{0xA5};

/// The blocks of the results of all ranks, one after another; those that several ranks get stand there once.
std::size_t result_blocks(Collective collective, std::size_t ranks) {
  switch (collective) {
    case Collective::allgather:
    case Collective::reduce_scatter_block:
      return ranks;
    case Collective::alltoall:
      return ranks * ranks;
    default:
      return 1;
  }
}

/// Element `i` of these blocks.
std::int64_t result(const Call& call, int ranks, std::size_t i) {
  const auto block = static_cast<int>(i / call.count);
  const std::size_t index = i % call.count;
  if (reduces(call.collective)) return reduction(call, ranks, i);
  if (call.collective == Collective::allgather) return contribution(call, ranks, block, index);
  if (call.collective == Collective::alltoall) {
    const auto receiver = static_cast<std::size_t>(block / ranks);
    return contribution(call, ranks, block % ranks, receiver * call.count + index);
  }
  return contribution(call, ranks, call.root, i);
}

}  // namespace

PreparedCall::PreparedCall(const Call& call, int ranks, const Placement& placement)
    : call_(call), ranks_(ranks), placement_(placement) {
  std::vector<std::int64_t> values(result_blocks(call.collective, static_cast<std::size_t>(ranks)) * call.count);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = result(call, ranks, i);
  result_ = elements_of(values, call.type);
}

std::string PreparedCall::describe() const {
  return fmt::format("{}{}, offsets {} and {} bytes, {} ranks", chorus::describe(call_),
                     placement_.in_place ? " in place" : "", placement_.in_offset, placement_.out_offset, ranks_);
}

std::size_t PreparedCall::in_count() const noexcept {
  const bool in_blocks =
      call_.collective == Collective::reduce_scatter_block || call_.collective == Collective::alltoall;
  return in_blocks ? all_blocks() : call_.count;
}

std::size_t PreparedCall::out_count(int rank) const noexcept {
  if (call_.collective == Collective::reduce && rank != call_.root) return 0;
  const bool in_blocks = call_.collective == Collective::allgather || call_.collective == Collective::alltoall;
  return in_blocks ? all_blocks() : call_.count;
}

std::vector<std::byte> PreparedCall::input(int rank) const {
  std::vector<std::int64_t> values(in_count());
  if (call_.collective != Collective::bcast || rank == call_.root) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = contribution(call_, ranks_, rank, i);
  }
  return elements_of(values, call_.type);
}

std::span<const std::byte> PreparedCall::expected(int rank) const {
  const std::size_t bytes = out_count(rank) * size_of(call_.type);
  const bool own = call_.collective == Collective::reduce_scatter_block || call_.collective == Collective::alltoall;
  return std::span(result_).subspan(own ? static_cast<std::size_t>(rank) * bytes : 0, bytes);
}

RankBuffers::Guarded::Guarded(std::size_t bytes, std::size_t offset)
    : bytes_(bytes), memory_(bytes + 2 * guard_bytes + 64 + largest_offset, guard) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data() + guard_bytes);
  begin_ = guard_bytes + (64 - address % 64) % 64 + offset;
}

bool RankBuffers::Guarded::intact() const noexcept {
  const auto is_guard = [](std::byte value) { return value == guard; };
  const auto first = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
  return std::all_of(memory_.begin(), first, is_guard) &&
         std::all_of(first + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), is_guard);
}

RankBuffers::RankBuffers(const PreparedCall& prepared, int rank)
    : prepared_(prepared),
      rank_(rank),
      input_(prepared.input(rank)),
      in_(prepared.placement().in_place ? 0 : input_.size(), prepared.placement().in_offset),
      out_(prepared.placement().in_place
               ? std::max(prepared.in_count(), prepared.out_count(rank)) * size_of(prepared.call().type)
               : prepared.out_count(rank) * size_of(prepared.call().type),
           prepared.placement().out_offset) {
  if (input_.empty()) return;
  const bool own_block = prepared.placement().in_place && prepared.call().collective == Collective::allgather;
  std::byte* const place = prepared.placement().in_place ? out_.data() : in_.data();
  std::memcpy(place + (own_block ? static_cast<std::size_t>(rank) * input_.size() : 0), input_.data(), input_.size());
}

Arguments RankBuffers::arguments() {
  const Call& call = prepared_.call();
  if (call.collective == Collective::barrier) return {.call = call};
  if (prepared_.placement().in_place) return {.call = call, .in = out_.data(), .out = out_.data()};
  const bool has_out = call.collective != Collective::reduce || rank_ == call.root;
  return {.call = call, .in = in_.data(), .out = has_out ? out_.data() : nullptr};
}

bool RankBuffers::must_keep_input() const noexcept {
  const bool gives_only = prepared_.call().collective == Collective::reduce && rank_ != prepared_.call().root;
  return !prepared_.placement().in_place || gives_only;
}

void RankBuffers::check() const {
  const auto fail = [&](const char* what) {
    throw std::runtime_error(fmt::format("{} on rank {} of {}", what, rank_, prepared_.describe()));
  };
  if (!in_.intact() || !out_.intact()) fail("memory beside the buffers has changed");
  if (must_keep_input()) {
    const auto now = prepared_.placement().in_place ? out_.content() : in_.content();
    if (!std::ranges::equal(now.first(input_.size()), input_)) fail("the input has changed");
  }
  if (!same_elements(out_.content().data(), prepared_.expected(rank_).data(), prepared_.out_count(rank_),
                     prepared_.call().type)) {
    fail("a wrong result");
  }
}

Task<> perform(const Algorithm& algorithm, Transport& transport, const PreparedCall& prepared) {
  RankBuffers buffers(prepared, transport.rank());
  co_await carry_out(algorithm, transport, buffers.arguments());
  buffers.check();
}

void perform_now(const Algorithm& algorithm, Transport& transport, const PreparedCall& prepared) {
  RankBuffers buffers(prepared, transport.rank());
  carry_out_now(algorithm, transport, buffers.arguments());
  buffers.check();
}

}  // namespace chorus::test
