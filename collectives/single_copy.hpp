// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "reduction.hpp"
#include "transport/shared_group.hpp"

#include <cstring>

namespace chorus {

/// A collective inside a node whose ranks show each other where their data lies, and copy from there straight to where
/// it belongs; a second round tells that the data may change again. `Steps` is made of the transport and the arguments,
/// and has
///   shown()         what others may read
///   keep()          copies what stays with this rank, meanwhile
///   copy(data_of)   copies from the others; data_of(peer) is what `peer` has shown
template <class Steps>
struct SingleCopy {
  static bool applies(const Problem& problem) { return problem.single_copy; }

  static Task<> run(Transport& transport, Arguments arguments) {
    SharedGroup& memory = *transport.shared();
    Steps steps(transport, arguments);
    const Round showing = co_await memory.open(line_slots);
    const std::byte* const data = steps.shown();
    std::memcpy(memory.payload(showing), &data, sizeof data);
    memory.arrive(showing);
    steps.keep();
    co_await memory.arrivals(showing);
    steps.copy([&](int peer) {
      const std::byte* theirs = nullptr;
      std::memcpy(&theirs, memory.payload(showing, peer), sizeof theirs);
      return theirs;
    });
    const Round done = co_await memory.open(line_slots);
    memory.arrive(done);
    co_await memory.arrivals(done);
  }
};

/// What the busiest rank does in such a collective, where it reads `reads` times, `bytes` in all, and keeps `kept`.
[[nodiscard]] inline Traffic single_copy_traffic(const Problem& problem, double reads, double bytes, double kept) {
  if (problem.ranks == 1) return {.shared = {.messages = 2, .bytes = kept}, .messages = {}};
  return {.shared = {.messages = 2, .bytes = kept},
          .messages = {},
          .waited = {},
          .read = {.messages = reads, .bytes = bytes, .reduced = 0}};
}

}  // namespace chorus
