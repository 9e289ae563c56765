// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "base/machine.hpp"
#include "link_model.hpp"
#include "one_round.hpp"
#include "reduction.hpp"
#include "transport/shared_group.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

namespace chorus {

/// How many ranks copy from or to one side by side: of long blocks about three.
[[nodiscard]] inline double copiers_at_once(const LinkModel& links, std::size_t bytes) {
  constexpr double of_long_blocks = 3;
  return bytes >= machine::long_block ? std::max(links.readers_at_once, of_long_blocks) : links.readers_at_once;
}
/// True where a root and the others copy parts of the same blocks at the same time. Not where ranks share cores: what
/// the root does others do not, then.
[[nodiscard]] inline bool both_ends_copy(const LinkModel& links, int ranks) {
  return !links.shares_cores() && ranks > 1;
}
/// The part of each block that the others copy then, so that all take as long; the root has to `keep` so many blocks
/// besides.
[[nodiscard]] inline double share_of_others(const LinkModel& links, int ranks, std::size_t bytes, int keep) {
  const double others = ranks - 1;
  const double at_once = std::min(others, copiers_at_once(links, bytes));
  return std::min(1.0, at_once / (at_once + 1) * (1 + keep / others));
}

/// The same in bytes: whole pages, or all.
[[nodiscard]] inline std::size_t part_of_others(const LinkModel& links, int ranks, std::size_t bytes, int keep) {
  const double share = share_of_others(links, ranks, bytes, keep);
  return share < 1 ? static_cast<std::size_t>(share * static_cast<double>(bytes)) / machine::page * machine::page
                   : bytes;
}

/// What a rank shows to the others.
struct Shown {
  const std::byte* in = nullptr;  ///< what they may read
  std::byte* out = nullptr;       ///< where they may write
  std::size_t part = 0;           ///< of the root, by which all go: who copies how much
};
inline void show(SharedGroup& memory, Round round, const Shown& own) noexcept {
  static_assert(sizeof own <= payload_bytes);
  std::memcpy(memory.payload(round), &own, sizeof own);
}
[[nodiscard]] inline Shown shown_by(const SharedGroup& memory, Round round, int peer) noexcept {
  Shown theirs;
  std::memcpy(&theirs, memory.payload(round, peer), sizeof theirs);
  return theirs;
}

/// How much is reduced at a time of what is read of all ranks: it stays in a core's own caches.
[[nodiscard]] inline std::size_t reduced_at_once(const Call& call, int ranks) noexcept {
  const std::size_t most = machine::beyond_caches / static_cast<std::size_t>(ranks);
  return std::max(call.whole_bytes(std::min(machine::longest_segment_of_parts, most)), call.element_bytes());
}
/// Where `bytes` of each rank are found here, in the order of the ranks: this rank's are at `own`, the others', at
/// `there(peer)`, are copied to `place` and behind, but for registered memory. None where they could not be.
template <class There>
[[nodiscard]] std::span<const std::byte* const> inputs_of_all(SharedGroup& memory, const std::byte* own, There there,
                                                              std::size_t bytes, std::byte* place) {
  const std::span<const std::byte*> inputs = memory.places(memory.size());
  inputs[static_cast<std::size_t>(memory.rank())] = own;
  bool all = true;
  for_others(memory, [&](int peer) {
    const std::byte*& input = inputs[static_cast<std::size_t>(peer)];
    input = memory.find(peer, there(peer), bytes);
    if (input != nullptr) return;
    all = all && memory.read(peer, place, there(peer), bytes);
    input = place;
    place += bytes;
  });
  return all ? inputs : std::span<const std::byte*>();
}

/// What one rank does in a collective inside a node whose ranks show each other where their data lies, and copy from
/// there straight to where it belongs. A collective's own `Steps` derive from this, say what differs, and have
///   copy(of)   copies from the others or to them; of(peer) is what `peer` shows; false where it could not
class SingleCopySteps {
 public:
  SingleCopySteps(Transport& transport, const Arguments& arguments)
      : memory_(*transport.shared()), arguments_(arguments) {}

  [[nodiscard]] Shown shown() const { return {.in = arguments_.in}; }
  /// Copies what stays with this rank, meanwhile.
  void keep() const {}
  /// Who shows what this rank copies from or to.
  [[nodiscard]] Awaited awaited() const { return Awaited::everybody; }
  /// When all have copied.
  void end() const {}
  /// The arguments for another algorithm, after all this.
  [[nodiscard]] Arguments again() const { return arguments_; }

 protected:
  [[nodiscard]] int me() const { return memory_.rank(); }
  [[nodiscard]] int root() const { return arguments_.call.root; }
  [[nodiscard]] bool in_place() const { return arguments_.in == arguments_.out; }
  [[nodiscard]] std::size_t bytes() const { return arguments_.call.bytes(); }
  /// Of the block for or from `rank`, among those of all.
  [[nodiscard]] std::size_t offset(int rank) const { return static_cast<std::size_t>(rank) * bytes(); }
  [[nodiscard]] bool is_root() const { return me() == root(); }
  /// For the root to decide: it tells the others by Shown::part.
  [[nodiscard]] bool both_ends_copy() const {
    return chorus::both_ends_copy(or_built_in(arguments_.links), memory_.size());
  }
  /// Where the root gives, the others wait for it, and it for them if it writes.
  [[nodiscard]] Awaited awaited_where_root_gives() const {
    if (!is_root()) return Awaited::giving_root;
    return both_ends_copy() ? Awaited::everybody : Awaited::nobody;
  }
  /// Shown::part where both ends copy the first bytes of a block and the rest, and the root has to `keep` so many.
  [[nodiscard]] std::size_t part_of_others(int keep) const {
    return chorus::part_of_others(or_built_in(arguments_.links), memory_.size(), bytes(), keep);
  }
  /// `copy(peer)` with each other rank; false where one was.
  template <class Copy>
  [[nodiscard]] bool with_others(Copy copy) const {
    bool all = true;
    for_others(memory_, [&](int peer) { all &= copy(peer); });
    return all;
  }
  /// Copies each other rank's block, which lies at `there(peer)`, to its place in the result.
  template <class There>
  [[nodiscard]] bool read_from_others(There there) const {
    return with_others(
        [&](int peer) { return memory_.read(peer, arguments_.out + offset(peer), there(peer), bytes()); });
  }

  SharedGroup& memory_;
  const Arguments& arguments_;
};

/// The collective of such `Steps`. A second round tells that the data may change again. Where the system refused to
/// copy on any rank, all do it again by `other`: some memory cannot be reached by other processes.
template <class Steps, const Algorithm& other>
struct SingleCopy {
  static bool applies(const Problem& problem) { return problem.single_copy && other.applies(problem); }

  static Task<> run(Transport& transport, Arguments arguments) {
    SharedGroup& memory = *transport.shared();
    Steps steps(transport, arguments);
    const Round showing = co_await memory.open(line_slots);
    show(memory, showing, steps.shown());
    memory.arrive(showing);
    steps.keep();
    if (steps.awaited() == Awaited::everybody) co_await memory.arrivals(showing);
    if (steps.awaited() == Awaited::giving_root) co_await memory.arrival(showing, arguments.call.root);
    const bool copied = steps.copy([&](int peer) { return shown_by(memory, showing, peer); });
    const Round done = co_await memory.open(line_slots);
    std::memcpy(memory.payload(done), &copied, sizeof copied);
    memory.arrive(done);
    co_await memory.arrivals(done);
    memory.check_others();  // who has arrived may have given up since, before this rank read its data
    if (all_copied(memory, done)) {
      steps.end();
    } else {
      co_await other.run(transport, steps.again());
    }
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
          .read = {.messages = reads, .bytes = reads * bytes, .reduced = 0},
          .arrivals = problem.ranks + 1.0};  // of all, and who comes to the end finds that most have
}

/// `traffic` where several ranks read from one process at a time, of whom some wait for others: as many times as long
/// as that of one reader.
inline void take_turns(Traffic& traffic, double turns) {
  traffic.read.messages *= turns;
  traffic.read.bytes *= turns;
}
/// Where all ranks copy from or to one.
[[nodiscard]] inline double turns_at_one(const Problem& problem) {
  const std::size_t bytes = problem.call.bytes();
  return 1 + std::max(0, problem.ranks - 2) / copiers_at_once(links_of(problem), bytes);
}
/// Where each rank reads from all in turn, and meets others there that are earlier or later.
[[nodiscard]] inline double turns_at_all(const Problem& problem) {
  constexpr double for_doubled_ranks = 0.3;
  return std::max(1.0, (1 + for_doubled_ranks * (std::log2(problem.ranks) - 1)) / links_of(problem).readers_at_once);
}
/// What the busiest rank does where both ends copy: the others in turn, each its share of one block. The root keeps its
/// own meanwhile.
[[nodiscard]] inline Traffic traffic_of_both_ends(const Problem& problem, int keep) {
  Traffic traffic = single_copy_traffic(problem, 1, 0);
  take_turns(traffic, turns_at_one(problem));
  traffic.read.bytes *= share_of_others(links_of(problem), problem.ranks, problem.call.bytes(), keep);
  return traffic;
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
