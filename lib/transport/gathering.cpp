// SPDX-License-Identifier: Apache-2.0
#include "transport/gathering.hpp"

#include "transport/shared_group.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace chorus {

Task<> meet_in_memory(const Transport& transport, Call call) {
  SharedGroup* const memory = transport.node_memory();
  if (memory == nullptr) co_return;
  memory->begin(call);
  co_await memory->meet();
}

// Bruck's allgather: every rank collects the records from its own on, doubling their number in each step.
Task<> gather_records(Transport& transport, Bytes table) {
  const int size = transport.size();
  const int me = transport.rank();
  const std::size_t record = table.size() / static_cast<std::size_t>(size);
  const Scratch scratch = transport.scratch(table.size());
  const Bytes from_me_on = scratch.bytes();
  const auto at = [&](int index) { return static_cast<std::size_t>(index) * record; };
  std::memcpy(from_me_on.data(), table.data() + at(me), record);
  for (int held = 1; held < size; held *= 2) {
    const int more = std::min(held, size - held);
    const ConstBytes mine = from_me_on.first(at(more));
    const Bytes incoming = from_me_on.subspan(at(held), at(more));
    co_await transport.sendrecv(mine, (me - held + size) % size, incoming, (me + held) % size);
  }
  std::memcpy(table.data() + at(me), from_me_on.data(), at(size - me));
  std::memcpy(table.data(), from_me_on.data() + at(size - me), at(me));
}

// A binomial tree, first for the length, then for the text.
Task<std::string> spread_text(Transport& transport, std::string text) {
  const auto size = static_cast<unsigned>(transport.size());
  const auto me = static_cast<unsigned>(transport.rank());
  const unsigned parent = me == 0 ? 0 : me - (1U << (std::bit_width(me) - 1U));
  std::uint64_t length = text.size();
  for (int part = 0; part < 2; ++part) {
    const Bytes bytes =
        part == 0 ? writable_bytes_of(length) : Bytes(reinterpret_cast<std::byte*>(text.data()), length);
    if (me != 0) co_await transport.receive(bytes, static_cast<int>(parent));
    for (unsigned distance = std::bit_ceil(me + 1U); me + distance < size; distance *= 2) {
      co_await transport.send(bytes, static_cast<int>(me + distance));
    }
    text.resize(length);
  }
  co_return text;
}

}  // namespace chorus
