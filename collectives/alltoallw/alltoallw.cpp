// SPDX-License-Identifier: Apache-2.0
#include <chorus/alltoallw.hpp>

#include "device_call.hpp"
#include "door.hpp"
#include "section_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

namespace chorus {
namespace {

using InBlocks = std::span<const std::span<const std::byte>>;
using OutBlocks = std::span<const std::span<std::byte>>;

constexpr Collective collective = Collective::alltoallw;

/// Blocks anywhere in memory are sections behind the lowest of them, which is returned.
template <class Byte>
Byte* take_blocks(const detail::CommunicatorState& state, std::span<const std::span<Byte>> blocks, const char* argument,
                  std::span<Section> sections) {
  if (blocks.size() != sections.size()) {
    reject(state, collective,
           fmt::format("argument {} has {} blocks; give one for each of the {} ranks", argument, blocks.size(),
                       sections.size()));
  }
  Byte* lowest = nullptr;
  for (const std::span<Byte>& block : blocks) {
    if (!block.empty() && (lowest == nullptr || std::less<>()(block.data(), lowest))) lowest = block.data();
  }
  for (std::size_t rank = 0; rank < sections.size(); ++rank) {
    const std::span<Byte>& block = blocks[rank];
    if (block.empty()) continue;
    if (is_too_long(block.size(), 1)) {
      reject(state, collective,
             fmt::format("argument {}: the block of rank {} has {} bytes, more than an address space holds; was a "
                         "negative number converted?",
                         argument, rank, block.size()));
    }
    if (may_be_on_device(block.data())) [[unlikely]]
      check_host(state, collective, block.data(), argument);
    sections[rank] = {static_cast<std::size_t>(block.data() - lowest), block.size()};
  }
  return lowest;
}

const std::byte* end_of(std::span<const std::byte> block) { return block.data() + block.size(); }

/// No block of `out` may overlap another, or one of `in`.
void check_apart(detail::CommunicatorState& state, InBlocks in, OutBlocks out, const char* out_name) {
  const Scratch scratch = state.caller_scratch(out.size_bytes());
  auto* const sorted = reinterpret_cast<std::span<std::byte>*>(scratch.data());
  auto* const end = std::ranges::copy_if(out, sorted, [](const auto& block) { return !block.empty(); }).out;
  const auto place = [](const std::span<std::byte>& block) -> const std::byte* { return block.data(); };
  std::ranges::sort(sorted, end, std::less<>(), place);
  const auto overlap = [](const auto& one, const auto& next) { return std::less<>()(next.data(), end_of(one)); };
  if (std::adjacent_find(sorted, end, overlap) != end) {
    reject(state, collective, fmt::format("two blocks of argument {} overlap; give each memory of its own", out_name));
  }
  for (const std::span<const std::byte>& block : in) {
    if (block.empty()) continue;
    const auto* const next = std::ranges::upper_bound(sorted, end, block.data(), std::less<>(), place);
    if ((next != end && overlap(block, *next)) || (next != sorted && overlap(*(next - 1), block))) {
      reject(state, collective,
             "a block of argument in overlaps one of out; pass one list to work in place, or blocks apart");
    }
  }
}

Arguments checked(const SectionTable& table, detail::CommunicatorState& state, InBlocks in, OutBlocks out) {
  Arguments arguments{.call = {.collective = collective, .type = DataType::uint8}};
  arguments.in = take_blocks(state, in, "in", table.in());
  arguments.out = take_blocks(state, out, "out", table.out());
  table.put_into(arguments);
  const auto me = static_cast<std::size_t>(state.rank());
  if (in[me].size() != out[me].size()) {
    reject(state, collective, "what this rank gives itself differs in in and out; make both equally long");
  }
  check_apart(state, in, out, "out");
  return arguments;
}

Arguments checked(const SectionTable& table, detail::CommunicatorState& state, OutBlocks inout) {
  Arguments arguments{.call = {.collective = collective, .type = DataType::uint8}};
  arguments.out = take_blocks(state, inout, "inout", table.out());
  arguments.in = arguments.out;
  std::ranges::copy(table.out(), table.in().begin());
  table.put_into(arguments);
  check_apart(state, {}, inout, "inout");
  return arguments;
}

}  // namespace

void alltoallw(const Communicator& comm, InBlocks in, OutBlocks out, const CollectiveOptions& options) {
  const SectionTable table(comm.state());
  complete(comm.state(), checked(table, comm.state(), in, out), options);
}

void alltoallw(const Communicator& comm, OutBlocks inout, const CollectiveOptions& options) {
  const SectionTable table(comm.state());
  complete(comm.state(), checked(table, comm.state(), inout), options);
}

Request ialltoallw(const Communicator& comm, InBlocks in, OutBlocks out, const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return start(comm, checked(sections->table, comm.state(), in, out), options, sections);
}

Request ialltoallw(const Communicator& comm, OutBlocks inout, const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return start(comm, checked(sections->table, comm.state(), inout), options, sections);
}

PersistentRequest alltoallw_init(const Communicator& comm, InBlocks in, OutBlocks out,
                                 const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return prepare(comm, checked(sections->table, comm.state(), in, out), options, sections);
}

PersistentRequest alltoallw_init(const Communicator& comm, OutBlocks inout, const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return prepare(comm, checked(sections->table, comm.state(), inout), options, sections);
}

}  // namespace chorus
