// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "base/section.hpp"
#include "task/task.hpp"
#include "topology/node_shape.hpp"
#include "transport/shared_region.hpp"
#include "transport/transport.hpp"

#include <chorus/detail/operation.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace chorus {

struct LinkModel;

/// A call and where it runs: all that an algorithm is chosen by. The same on every rank, so that no two choose apart.
struct Problem {
  Call call;
  int ranks = 1;
  int nodes = 1;                     ///< groups of ranks that share memory
  int largest_node = 1;              ///< ranks on the fullest of them
  int smallest_node = 1;             ///< and on that with the fewest
  bool in_order = true;              ///< the ranks of each node follow one another, node by node
  bool shared = false;               ///< all ranks share memory
  std::size_t slot_bytes = 0;        ///< length of a data slot of the shared memory
  Radices domains = {};              ///< how the node divides them, where all share memory
  bool single_copy = false;          ///< they can read and write each other's memory, too
  bool native = false;               ///< the vendor can carry out `call`, of device memory NCCL
  bool windows = false;              ///< devices read one another's memory, and join the elements of `call` there
  const LinkModel* links = nullptr;  ///< what phases of an algorithm are chosen by; null: the built-in model

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// What the busiest rank does in one call on one level of the hierarchy.
struct LevelTraffic {
  double messages = 0;  ///< sends and receives that follow one another; in shared memory: rounds
  double bytes = 0;     ///< bytes sent; in shared memory: bytes written to it and read from it
  double reduced = 0;   ///< bytes read by reductions, but for those of the running result
};

/// What an algorithm costs, without a clock: LinkModel turns it into time.
struct Traffic {
  LevelTraffic shared;       ///< inside a node, through shared memory
  double alone = 0;          ///< the same: bytes that one rank writes and reads while the others wait for it
  LevelTraffic messages;     ///< by messages; in phases of their own inside and between nodes: between
  LevelTraffic waited = {};  ///< by messages of other ranks, which the last rank has to wait for besides
  /// Of the `messages`, those that are under way at the same time as another one; bytes: of those that one rank sends
  /// to several others, which, inside a node, take them in at the same time.
  LevelTraffic together = {};
  LevelTraffic read = {};    ///< inside a node, from other ranks' memory or into it: calls of the system, and bytes
  bool one_reads = false;    ///< one rank alone, while the others wait for it
  LevelTraffic inside = {};  ///< by messages inside a node, where `messages` go between nodes
  LevelTraffic inside_together = {};  ///< as `together`, of `inside`
  double arrivals = 0;  ///< through shared memory: of single ranks, awaited; 0: of everybody in each round
  /// Inside a node that is divided (Problem::domains): bytes that the ranks of one of its outermost parts read of what
  /// others have written, in the part that reads most.
  double far = 0;
  LevelTraffic device = {};   ///< between a device's memory and the host's: there and back, and bytes both ways
  LevelTraffic windows = {};  ///< between the memories of devices: steps, after which the ranks meet, and bytes
  double overlap = 0;         ///< the part, from 0 to 1, of what goes on inside nodes while messages are on their way
  int lanes = 0;              ///< ranks of each node by which goes all that crosses the network; 0: all of them
  double to_next = 0;  ///< the part, from 0 to 1, of the bytes of `messages` that goes to the next or the one before
};

/// True where there are several nodes with ranks that follow one another, not one rank of each.
[[nodiscard]] constexpr bool neighbours_share_nodes(const Problem& problem) noexcept {
  return problem.nodes > 1 && problem.nodes < problem.ranks && problem.in_order;
}

/// What takes the messages between partners at a distance of so many ranks: those of one node are `inside`.
[[nodiscard]] constexpr LevelTraffic& level_of(Traffic& traffic, const Problem& problem, int distance) noexcept {
  return neighbours_share_nodes(problem) && distance < problem.smallest_node ? traffic.inside : traffic.messages;
}

/// Traffic::far where each rank, or one alone, reads so many bytes of all other ranks alike.
[[nodiscard]] constexpr double far_by_all(const Problem& problem, double bytes) noexcept {
  const Radices& radices = problem.domains;
  if (radices.levels == 0) return 0;
  const double ranks = problem.ranks;
  const double part = ranks / radices.radix(radices.levels - 1);
  return part * bytes * (ranks - part) / (ranks - 1);
}
[[nodiscard]] constexpr double far_by_one(const Problem& problem, double bytes) noexcept {
  const Radices& radices = problem.domains;
  return radices.levels == 0 ? 0 : far_by_all(problem, bytes) * radices.radix(radices.levels - 1) / problem.ranks;
}
/// The same where each rank reads so many bytes of one rank.
[[nodiscard]] constexpr double far_from_one(const Problem& problem, double bytes) noexcept {
  const Radices& radices = problem.domains;
  return radices.levels == 0 ? 0 : bytes * problem.ranks / radices.radix(radices.levels - 1);
}

/// The buffers of one rank. In place: `in` and `out` are equal. Where the collective gives this rank no result (reduce
/// and gather elsewhere than on the root) `out` may be null, where it gives none (scatter elsewhere) `in`.
struct Arguments {
  Call call;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  detail::Operation::Join join = nullptr;  ///< the caller's own operation, where it has one
  const void* function = nullptr;          ///< for `join` or `multiply`
  /// Where blocks differ in length (sections.hpp): what goes to each rank and comes from it; elsewhere empty.
  std::span<const Section> in_sections = {};
  std::span<const Section> out_sections = {};
  std::string (*purpose)(std::uint32_t) = nullptr;  ///< CallPurpose::text, for messages
  const LinkModel* links = nullptr;                 ///< as in Problem
  // Of a call on device memory:
  void* stream = nullptr;
  int device = -1;                   ///< whose memory it is; -1: this rank has no elements in it
  std::chrono::nanoseconds limit{};  ///< to be over in the stream by; 0: none
  /// As in detail::Operation, with `function` for the factor.
  void (*multiply)(const void*, std::byte*, std::size_t) = nullptr;
};

/// What the elements of a call on device memory are multiplied by before their sum; null where they are not.
[[nodiscard]] inline const void* factor_of(const Arguments& arguments) noexcept {
  return arguments.multiply != nullptr ? arguments.function : nullptr;
}

/// A block of `in`, which has one for each rank.
[[nodiscard]] inline Section input_block(const Arguments& arguments, std::size_t number) noexcept {
  if (!arguments.in_sections.empty()) return arguments.in_sections[number];
  return {number * arguments.call.bytes(), arguments.call.bytes()};
}

/// A collective of one round in shared memory in two halves, between which the caller may compute.
struct Halves {
  /// Begins the call: shows what this rank gives, in the round that is returned. None, and nothing done, where it would
  /// have to wait.
  std::optional<Round> (*give)(Transport&, const Arguments&);
  /// Waits for the others and makes the result; no other round comes between.
  void (*take)(Transport&, const Arguments&, Round);
  Task<> (*take_later)(Transport&, Arguments, Round);
};

/// One way to carry out a collective. Adding one: a file that exports such a row, and its name in meson.build.
struct Algorithm {
  std::string_view name;     ///< the name of the file
  std::string_view summary;  ///< one sentence for `chorus-info algorithms`
  std::string_view source;   ///< authors, place, year
  bool (*applies)(const Problem&);
  Traffic (*traffic)(const Problem&);
  Task<> (*run)(Transport&, Arguments);
  /// The same, blocking and without a coroutine, for the smallest messages inside a node and for what queues; may be
  /// null.
  void (*now)(Transport&, const Arguments&) = nullptr;
  /// The same in two halves; may be null. Such an algorithm `arrives`.
  const Halves* halves = nullptr;
  /// True where its first round in the memory of a node is the arrival of every rank there, so that the door need not
  /// ask for one.
  bool arrives = false;
  /// True where Reduction::all gets the contributions of all ranks to an element at once, so that a sum can be exact
  /// and rounded once. Others carry wider elements where that matters (wider_elements.hpp).
  bool at_once = false;
  /// True where only some ranks know whether it can carry a call out, so that they cannot choose it together: it is
  /// taken where it is named, and nowhere else.
  bool only_named = false;
  /// Whose memory it works on.
  Memory memory = Memory::host;
  /// Of what puts the call into a stream, where no rank waits for another: it does so by `now`, or by `run` where this
  /// says that the ranks may have to be connected before. Null elsewhere.
  bool (*may_wait)(Transport&, const Arguments&) = nullptr;

  [[nodiscard]] constexpr bool queues() const noexcept { return may_wait != nullptr; }
};

/// True where `algorithm` can solve `problem`.
[[nodiscard]] inline bool suits(const Algorithm& algorithm, const Problem& problem) {
  return algorithm.memory == problem.call.memory && algorithm.applies(problem);
}

/// Every algorithm of `collective`, in the order of meson.build.
[[nodiscard]] std::span<const Algorithm* const> algorithms(Collective collective) noexcept;

}  // namespace chorus
