// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "base/machine.hpp"
#include "link_model.hpp"
#include "reduction.hpp"
#include "transport/shared_group.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

namespace chorus {

/// What one rank does in a collective inside a node whose ranks show each other where their data lies, and copy from
/// there straight to where it belongs. A collective's own `Steps` derive from this, say what differs, and have
///   copy(data_of)   copies from the others; data_of(peer) is what `peer` has shown; false where it could not
class SingleCopySteps {
 public:
  SingleCopySteps(Transport& transport, const Arguments& arguments)
      : memory_(*transport.shared()), arguments_(arguments) {}

  /// What others may read.
  [[nodiscard]] const std::byte* shown() const { return arguments_.in; }
  /// Copies what stays with this rank, meanwhile.
  void keep() const {}
  /// True where this rank copies anything from others, and so waits for what they show.
  [[nodiscard]] bool copies() const { return true; }
  /// The arguments for another algorithm, after all this.
  [[nodiscard]] Arguments again() const { return arguments_; }

 protected:
  [[nodiscard]] int me() const { return memory_.rank(); }
  [[nodiscard]] int root() const { return arguments_.call.root; }
  [[nodiscard]] bool in_place() const { return arguments_.in == arguments_.out; }
  [[nodiscard]] std::size_t bytes() const { return arguments_.call.bytes(); }
  /// Of the block for or from `rank`, among those of all.
  [[nodiscard]] std::size_t offset(int rank) const { return static_cast<std::size_t>(rank) * bytes(); }
  /// Copies one block.
  [[nodiscard]] bool read(int peer, std::byte* out, const std::byte* there) const {
    return memory_.read(peer, out, there, bytes());
  }
  /// The same from each other rank, whose block lies at `there(peer)`, to its place in the result. Begins with the next
  /// rank, so that not all read from one.
  template <class There>
  [[nodiscard]] bool read_from_others(There there) const {
    bool all = true;
    for (int step = 1; step < memory_.size(); ++step) {
      const int peer = (me() + step) % memory_.size();
      all &= read(peer, arguments_.out + offset(peer), there(peer));
    }
    return all;
  }

  SharedGroup& memory_;
  const Arguments& arguments_;
};

/// The collective of such `Steps`. A second round tells that the data may change again. Where the system refused to
/// copy on any rank, all do it again by `other`: some memory cannot be read by other processes.
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
    if (steps.copies()) co_await memory.arrivals(showing);
    const bool copied = steps.copy([&](int peer) {
      const std::byte* theirs = nullptr;
      std::memcpy(&theirs, memory.payload(showing, peer), sizeof theirs);
      return theirs;
    });
    const Round done = co_await memory.open(line_slots);
    std::memcpy(memory.payload(done), &copied, sizeof copied);
    memory.arrive(done);
    co_await memory.arrivals(done);
    memory.check_others();  // who has arrived may have given up since, before this rank read its data
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

/// What the busiest rank does in such a collective, where it reads and keeps so many blocks.
[[nodiscard]] inline Traffic single_copy_traffic(const Problem& problem, int read, int kept) {
  const double bytes = static_cast<double>(problem.call.bytes());
  const double reads = problem.ranks == 1 ? 0 : read;
  return {.shared = {.messages = 2, .bytes = kept * kept_bytes(problem.call)},
          .messages = {},
          .waited = {},
          .read = {.messages = reads, .bytes = reads * bytes, .reduced = 0}};
}

/// `traffic` where several ranks read from one process at a time, of whom some wait for others: as many times as long
/// as that of one reader.
inline void take_turns(Traffic& traffic, double turns) {
  traffic.read.messages *= turns;
  traffic.read.bytes *= turns;
}
/// Where all ranks read from one: of long blocks about three read at a time.
[[nodiscard]] inline double turns_at_one(const Problem& problem) {
  constexpr double of_long_blocks = 3;
  const double readers = links_of(problem).readers_at_once;
  const bool are_long = problem.call.bytes() >= machine::long_block;
  return 1 + std::max(0, problem.ranks - 2) / (are_long ? std::max(readers, of_long_blocks) : readers);
}
/// Where each rank reads from all in turn, and meets others there that are earlier or later.
[[nodiscard]] inline double turns_at_all(const Problem& problem) {
  constexpr double for_doubled_ranks = 0.3;
  return std::max(1.0, (1 + for_doubled_ranks * (std::log2(problem.ranks) - 1)) / links_of(problem).readers_at_once);
}

/// The row of `Steps`, with `other` as above.
template <class Steps, const Algorithm& other>
[[nodiscard]] constexpr Algorithm single_copy(std::string_view summary, Traffic (*traffic)(const Problem&),
                                              bool (*applies)(const Problem&) = SingleCopy<Steps, other>::applies) {
  return {.name = "single_copy",
          .summary = summary,
          .source = "Kernel-assisted collectives: Chakraborty, Subramoni and Panda, CLUSTER 2017",
          .applies = applies,
          .traffic = traffic,
          .run = SingleCopy<Steps, other>::run,
          .arrives = true};
}

}  // namespace chorus
