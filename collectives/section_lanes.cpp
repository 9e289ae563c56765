// SPDX-License-Identifier: Apache-2.0
#include "section_lanes.hpp"

#include "base/machine.hpp"
#include "base/names.hpp"
#include "base/settings.hpp"
#include "link_model.hpp"
#include "section_list.hpp"
#include "section_messages.hpp"
#include "task/when_all.hpp"
#include "transport/shared_group.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace chorus {
namespace {

using Length = SectionLength;

/// Places the sections one behind the other; returns the end of the last.
template <class BytesOf>
std::size_t lay_out(SectionList& sections, BytesOf bytes_of) {
  std::size_t end = 0;
  for (std::size_t number = 0; number < sections.size(); end += sections[number++].bytes) {
    sections[number] = {end, bytes_of(static_cast<int>(number))};
  }
  return end;
}

class PassageByLanes : SectionsBetweenNodes {
 public:
  PassageByLanes(Transport& transport, const Arguments& arguments)
      : SectionsBetweenNodes(transport, arguments, no_rank),
        given_(transport, arguments),
        of_nodes_(transport, nodes_.sizes().size()) {
    lay_out(of_nodes_, [&](int node) { return index(nodes_.sizes()[index(node)]); });
    receivers_ = receivers(place());
  }

  Task<> run() {
    const Scratch own_lengths = scratch(lay_out(to_mates_, [&](int mate) { return receivers(mate) * sizeof(Length); }));
    const Scratch lengths = scratch(lay_out(from_mates_, [&](int /*mate*/) { return receivers_ * sizeof(Length); }));
    write_lengths(own_lengths.data());
    co_await inside(own_lengths.data(), lengths.data());
    lengths_ = reinterpret_cast<const Length*>(lengths.data());

    const Scratch own_sections = scratch(lay_out(to_mates_, [&](int mate) { return bytes_to(mate); }));
    const Scratch sections = scratch(lay_out(from_mates_, [&](int mate) { return bytes_from(mate); }));
    write_sections(own_sections.data());
    co_await inside(own_sections.data(), sections.data());

    const Scratch outgoing = scratch(lay_out_outgoing());
    const Scratch incoming = scratch(lay_out_incoming());
    write_messages(outgoing.data(), sections.data());
    Task<> both[] = {pass_inside(),
                     pass_collected(transport_, arguments_.call, between(outgoing.data(), incoming.data()))};
    when_all side_by_side(both);
    co_await side_by_side;
    read_messages(incoming.data());
    co_await pass_long(given_.input());
  }

 private:
  [[nodiscard]] Scratch scratch(std::size_t bytes) const { return transport_.scratch(bytes); }
  [[nodiscard]] int place() const { return nodes_.place(); }
  [[nodiscard]] int size_of(int node) const { return nodes_.sizes()[index(node)]; }
  [[nodiscard]] int rank_at(int node, int place) const {
    return nodes_.ranks()[of_nodes_[index(node)].offset + index(place)];
  }
  [[nodiscard]] bool gets(int rank) const {
    return arguments_.call.collective != Collective::gatherv || rank == arguments_.call.root;
  }
  [[nodiscard]] const Section& section_to(int rank) const { return given_.input().sections[index(rank)]; }
  [[nodiscard]] const Section& section_from(int rank) const { return arguments_.out_sections[index(rank)]; }
  template <class What>
  void for_other_nodes(What what) const {
    for (int node = 0; node < static_cast<int>(nodes_.sizes().size()); ++node) {
      if (node != nodes_.number()) what(node);
    }
  }
  /// Calls `what` for each rank of other nodes that gets a message from this one, or from the mate at that place.
  template <class What>
  void for_receivers(int mate, What what) const {
    for_other_nodes([&](int node) {
      for (int place = mate; place < size_of(node); place += mates()) {
        if (gets(rank_at(node, place))) what(rank_at(node, place));
      }
    });
  }
  [[nodiscard]] std::size_t receivers(int mate) const {
    std::size_t number = 0;
    for_receivers(mate, [&](int /*rank*/) { ++number; });
    return number;
  }

  /// What this rank has for all that a mate sends to.
  [[nodiscard]] std::size_t bytes_to(int mate) const {
    std::size_t bytes = 0;
    for_receivers(mate, [&](int rank) { bytes += collected(section_to(rank).bytes); });
    return bytes;
  }
  /// What a mate has for all that this rank sends to.
  [[nodiscard]] std::size_t bytes_from(int mate) const {
    std::size_t bytes = 0;
    for (std::size_t number = 0; number < receivers_; ++number) bytes += collected(length(mate, number));
    return bytes;
  }
  /// Of what a mate has for one of the receivers of this rank.
  [[nodiscard]] Length length(int mate, std::size_t receiver) const {
    return lengths_[index(mate) * receivers_ + receiver];
  }

  void write_lengths(std::byte* out) const {
    for (int mate = 0; mate < mates(); ++mate) {
      for_receivers(mate, [&](int rank) {
        const Length length = section_to(rank).bytes;
        std::memcpy(out, &length, sizeof length);
        out += sizeof length;
      });
    }
  }
  void write_sections(std::byte* out) const {
    for (int mate = 0; mate < mates(); ++mate) {
      for_receivers(mate, [&](int rank) { out = append(out, given_.input().bytes, section_to(rank)); });
    }
  }
  /// Returns the end of what it has written.
  std::byte* append(std::byte* out, const std::byte* in, const Section& section) const {
    const std::size_t bytes = collected(section.bytes);
    if (bytes > 0) std::memcpy(out, in + section.offset, bytes);
    return out + bytes;
  }

  /// A phase inside the node, of what goes to_mates_ and comes from_mates_.
  Task<> inside(const std::byte* in, std::byte* out) {
    return nodes_.run(
        {.where = Phase::Where::inside, .collective = Collective::alltoallv},
        {.call = arguments_.call, .in = in, .out = out, .in_sections = to_mates_, .out_sections = from_mates_});
  }
  /// What the ranks of a node have for one another.
  Task<> pass_inside() {
    for (int mate = 0; mate < mates(); ++mate) {
      to_mates_[index(mate)] = section_to(rank_at(nodes_.number(), mate));
      from_mates_[index(mate)] = section_from(rank_at(nodes_.number(), mate));
    }
    return inside(given_.input().bytes, arguments_.out);
  }
  /// A message has the lengths of all sections, and behind them those that were collected.
  [[nodiscard]] std::size_t lay_out_outgoing() {
    std::size_t end = 0, number = 0;
    to_ranks_.fill({});
    for_receivers(place(), [&](int rank) {
      std::size_t bytes = index(mates()) * sizeof(Length);
      for (int mate = 0; mate < mates(); ++mate) bytes += collected(length(mate, number));
      to_ranks_[index(rank)] = {end, bytes};
      end += bytes;
      ++number;
    });
    return end;
  }
  /// The rank of another node that sends to this one.
  [[nodiscard]] int sender(int node) const { return rank_at(node, place() % size_of(node)); }
  [[nodiscard]] std::size_t lay_out_incoming() {
    std::size_t end = 0;
    from_ranks_.fill({});
    if (!gets(transport_.rank())) return end;
    for_other_nodes([&](int node) {
      std::size_t bytes = index(size_of(node)) * sizeof(Length);
      for (int place = 0; place < size_of(node); ++place) bytes += collected(section_from(rank_at(node, place)).bytes);
      from_ranks_[index(sender(node))] = {end, bytes};
      end += bytes;
    });
    return end;
  }
  void write_messages(std::byte* out, const std::byte* sections) {
    std::size_t number = 0;
    for_receivers(place(), [&](int /*rank*/) {
      for (int mate = 0; mate < mates(); ++mate, out += sizeof(Length)) {
        const Length of_mate = length(mate, number);
        std::memcpy(out, &of_mate, sizeof of_mate);
      }
      for (int mate = 0; mate < mates(); ++mate) {
        std::size_t& begin = from_mates_[index(mate)].offset;
        out = append(out, sections, {begin, length(mate, number)});
        begin += collected(length(mate, number));
      }
      ++number;
    });
  }
  void read_messages(const std::byte* in) const {
    if (!gets(transport_.rank())) return;
    for_other_nodes([&](int node) {
      const std::byte* lengths = in;
      in += index(size_of(node)) * sizeof(Length);
      for (int place = 0; place < size_of(node); ++place, lengths += sizeof(Length)) {
        const int rank = rank_at(node, place);
        Length given = 0;
        std::memcpy(&given, lengths, sizeof given);
        check_length(arguments_.call, rank, given, transport_.rank(), section_from(rank).bytes);
        if (collected(given) == 0) continue;
        std::memcpy(arguments_.out + section_from(rank).offset, in, given);
        in += given;
      }
    });
  }

  Given given_;
  SectionList of_nodes_;             // among the ranks, node by node
  std::size_t receivers_ = 0;        // of messages of this rank
  const Length* lengths_ = nullptr;  // mate by mate, of what they have for the receivers of this rank
};

}  // namespace

Task<> pass_collected(Transport& transport, Call call, Task<> messages) {
  try {
    co_await std::move(messages);
  } catch (const GivenUp&) {  // by another rank
    throw;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::mismatch) throw;
    throw Error(ErrorCode::mismatch,
                fmt::format("rank {} or a rank of its node expects other lengths than some rank gives: {} (it has the "
                            "blocks of several ranks); the counts of {} must agree, and {}={} says of which ranks they "
                            "do not",
                            transport.rank(), error.message(), name(call.collective), variable_of(call.collective),
                            has_root(call.collective) ? "linear" : "pairwise"));
  }
}

std::size_t longest_collected(const Problem& problem) {
  constexpr double copies = 5;
  const LinkModel& links = links_of(problem);
  const double saved_us = links.further_message * links.network.latency_us;
  const double longest = saved_us * links.shared.megabytes_per_second / copies;
  return static_cast<std::size_t>(std::min(longest, static_cast<double>(machine::collected_at_most) / problem.ranks));
}

SectionsBetweenNodes::SectionsBetweenNodes(Transport& transport, const Arguments& arguments, int root)
    : transport_(transport),
      arguments_(arguments),
      nodes_(transport, arguments, root),
      longest_(longest_collected(nodes_.whole())),
      to_mates_(transport, index(mates())),
      from_mates_(transport, index(mates())),
      to_ranks_(transport, index(transport.size())),
      from_ranks_(transport, index(transport.size())) {}

Task<> SectionsBetweenNodes::between(const std::byte* in, std::byte* out) {
  return pass_what_is_there(
      transport_,
      {.call = arguments_.call, .in = in, .out = out, .in_sections = to_ranks_, .out_sections = from_ranks_});
}

Task<> SectionsBetweenNodes::pass_long(const Input& given) {
  const auto straight = [&](int rank, const Section& section) {
    return nodes_.node_of(rank) == nodes_.number() || section.bytes <= longest_ ? Section() : section;
  };
  for (int rank = 0; rank < transport_.size(); ++rank) {
    to_ranks_[index(rank)] = straight(rank, given.sections[index(rank)]);
    from_ranks_[index(rank)] = straight(rank, arguments_.out_sections[index(rank)]);
  }
  return between(given.bytes, arguments_.out);
}

Task<> pass_by_lanes(Transport& transport, Arguments arguments) {
  PassageByLanes passage(transport, arguments);
  co_await passage.run();
}

Traffic lane_traffic(const Problem& problem) {
  const auto inside = [](Collective collective, int times) {
    return Phase{.where = Phase::Where::inside, .collective = collective, .count = 0, .times = times};
  };
  Traffic traffic = problem.call.collective == Collective::scatterv
                        ? traffic_of(problem, {inside(Collective::gatherv, 1), inside(Collective::scatterv, 1)})
                        : traffic_of(problem, {inside(Collective::alltoallv, 3)});
  const bool of_root =
      problem.call.collective == Collective::gatherv || problem.call.collective == Collective::scatterv;
  const int of_each_node = (problem.largest_node + problem.smallest_node - 1) / problem.smallest_node;
  const int messages = (problem.nodes - 1) * (of_root ? 1 : of_each_node);
  traffic.messages.messages = messages;
  traffic.messages.bytes =
      static_cast<double>(problem.call.bytes()) + static_cast<double>(messages) * problem.largest_node * sizeof(Length);
  traffic.together.messages = together_in_rows(messages, messages);
  traffic.lanes = of_root ? 1 : 0;
  return traffic;
}

}  // namespace chorus
