// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "reduction.hpp"
#include "transport/shared_group.hpp"

#include <cstring>

namespace chorus {

/// A collective inside a node whose ranks show each other where their data lies, and copy from there straight to where
/// it belongs; a second round tells that the data may change again. Where the system refused to copy on any rank, all
/// do it again by `other`: some memory cannot be read by other processes. `Steps` is made of the transport and the
/// arguments, and has
///   shown()         what others may read
///   keep()          copies what stays with this rank, meanwhile
///   copy(data_of)   copies from the others; data_of(peer) is what `peer` has shown; false where it could not
///   again()         the arguments for `other`, after all this
template <class Steps, const Algorithm& other>
struct SingleCopy {
  static bool applies(const Problem& problem) { return problem.single_copy && other.applies(problem); }

  static Task<> run(Transport& transport, Arguments arguments) {
    SharedGroup& memory = *transport.shared();
    Steps steps(transport, arguments);
    const Round showing = co_await memory.open(line_slots);
    const std::byte* const data = steps.shown();
    std::memcpy(memory.payload(showing), &data, sizeof data);
    memory.arrive(showing);
    steps.keep();
    co_await memory.arrivals(showing);
    const bool copied = steps.copy([&](int peer) {
      const std::byte* theirs = nullptr;
      std::memcpy(&theirs, memory.payload(showing, peer), sizeof theirs);
      return theirs;
    });
    const Round done = co_await memory.open(line_slots);
    std::memcpy(memory.payload(done), &copied, sizeof copied);
    memory.arrive(done);
    co_await memory.arrivals(done);
    if (!all_copied(memory, done)) co_await other.run(transport, steps.again());
  }

 private:
  static bool all_copied(const SharedGroup& memory, Round done) {
    for (int peer = 0; peer < memory.size(); ++peer) {
      bool copied = false;
      std::memcpy(&copied, memory.payload(done, peer), sizeof copied);
      if (!copied) return false;
    }
    return true;
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
