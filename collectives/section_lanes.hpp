// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "phases.hpp"
#include "section_list.hpp"
#include "section_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace chorus {

// Sections (sections.hpp) between nodes: in every node each rank gets what the others have for the ranks with the same
// place as it in other nodes, and sends each of these all of it in one message. Where a node has fewer ranks than
// another, its ranks serve places of that in turn.
//
// With two nodes of two ranks, 0 1 and 2 3, and ab for the section from rank a to rank b:
//
//             rank 0         rank 1         rank 2         rank 3
//   inside    00 10 02 12    01 11 03 13    22 32 20 30    23 33 21 31
//   along     20 30          21 31          02 12          03 13
//
// A section that takes longer to be copied so often than a message takes goes straight to its rank: its giver and the
// rank that gets it both see that by its length, as does who collects, so that the lengths need not be the same
// everywhere, nor be known to all. Each message begins with the lengths of all that its node has for the rank.

/// Of alltoallv, alltoallw and gatherv.
Task<> pass_by_lanes(Transport& transport, Arguments arguments);
/// Of scatterv, the other way round: the root sends one message to the first rank of each other node, which passes it
/// on. Only the root and a rank know how long its section is: the first rank is told before what the others expect.
Task<> scatter_by_lanes(Transport& transport, Arguments arguments);
[[nodiscard]] Traffic lane_traffic(const Problem& problem);

/// The row of an algorithm that passes them so.
[[nodiscard]] constexpr Algorithm by_lanes(std::string_view summary,
                                           Task<> (*run)(Transport&, Arguments) = pass_by_lanes) {
  return {.name = "lanes",
          .summary = summary,
          .source = "Traeff and Hunold, CLUSTER 2020 (full-lane collectives)",
          .applies = has_nodes,
          .traffic = lane_traffic,
          .run = run,
          .arrives = true};
}

// What both are made of.

using SectionLength = std::uint64_t;  ///< in messages

/// Awaits messages that have sections of several ranks, so that a length that is not expected says little of who gives
/// it: Error{mismatch} says how to hear more.
[[nodiscard]] Task<> pass_collected(Transport& transport, Call call, Task<> messages);

/// The longest section that is collected: it is copied five times more, and saves a message.
[[nodiscard]] std::size_t longest_collected(const Problem& problem);

/// One call on one rank. Its mates are the ranks of its node.
class SectionsBetweenNodes {
 protected:
  /// `root` as for Nodes.
  SectionsBetweenNodes(Transport& transport, const Arguments& arguments, int root);

  [[nodiscard]] static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  [[nodiscard]] int mates() const { return transport_.node()->size(); }
  /// What is collected of a section of so many bytes.
  [[nodiscard]] std::size_t collected(std::size_t bytes) const { return bytes <= longest_ ? bytes : 0; }
  /// Messages of what goes to_ranks_ and comes from_ranks_.
  [[nodiscard]] Task<> between(const std::byte* in, std::byte* out);
  /// What is not collected of `given`.
  [[nodiscard]] Task<> pass_long(const Input& given);

  Transport& transport_;
  const Arguments& arguments_;
  Nodes nodes_;
  std::size_t longest_;
  SectionList to_mates_;
  SectionList from_mates_;
  SectionList to_ranks_;
  SectionList from_ranks_;
};

}  // namespace chorus
