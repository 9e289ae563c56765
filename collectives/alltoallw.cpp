// SPDX-License-Identifier: Apache-2.0
#include <chorus/alltoallw.hpp>

#include "door.hpp"
#include "section_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace chorus {
namespace {

constexpr Collective collective = Collective::alltoallv;

/// Blocks anywhere in memory are sections behind the lowest of them, which is returned.
template <class Byte>
Byte* take_blocks(const detail::CommunicatorState& state, std::span<const std::span<Byte>> blocks, const char* argument,
                  std::span<Section> sections) {
  if (blocks.size() != sections.size()) {
    reject(state, collective,
           fmt::format("argument {} of alltoallw has {} blocks; give one for each of the {} ranks", argument,
                       blocks.size(), sections.size()));
  }
  Byte* lowest = nullptr;
  for (const std::span<Byte>& block : blocks) {
    if (!block.empty() && (lowest == nullptr || std::less<>()(block.data(), lowest))) lowest = block.data();
  }
  for (std::size_t rank = 0; rank < sections.size(); ++rank) {
    const std::span<Byte>& block = blocks[rank];
    if (!block.empty()) sections[rank] = {static_cast<std::size_t>(block.data() - lowest), block.size()};
  }
  return lowest;
}

Arguments checked(const SectionTable& table, const detail::CommunicatorState& state,
                  std::span<const std::span<const std::byte>> in, std::span<const std::span<std::byte>> out) {
  const auto me = static_cast<std::size_t>(state.rank());
  Arguments arguments{.call = {.collective = collective, .type = DataType::uint8}};
  arguments.in = take_blocks(state, in, "in", table.in());
  arguments.out = take_blocks(state, out, "out", table.out());
  if (in[me].size() != out[me].size()) {
    reject(state, collective, "what this rank gives itself differs in in and out of alltoallw; make both equally long");
  }
  table.put_into(arguments);
  return arguments;
}

}  // namespace

void alltoallw(const Communicator& comm, std::span<const std::span<const std::byte>> in,
               std::span<const std::span<std::byte>> out, const CollectiveOptions& options) {
  const SectionTable table(comm.state());
  complete(comm.state(), checked(table, comm.state(), in, out), options);
}

Request ialltoallw(const Communicator& comm, std::span<const std::span<const std::byte>> in,
                   std::span<const std::span<std::byte>> out, const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return start(comm, checked(sections->table, comm.state(), in, out), options, sections);
}

PersistentRequest alltoallw_init(const Communicator& comm, std::span<const std::span<const std::byte>> in,
                                 std::span<const std::span<std::byte>> out, const CollectiveOptions& options) {
  const auto sections = std::make_shared<LastingSections>(comm);
  return prepare(comm, checked(sections->table, comm.state(), in, out), options, sections);
}

}  // namespace chorus
