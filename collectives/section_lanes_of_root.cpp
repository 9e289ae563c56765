// SPDX-License-Identifier: Apache-2.0
#include "section_lanes.hpp"

#include "section_list.hpp"
#include "section_messages.hpp"

#include <cstring>
#include <span>

namespace chorus {
namespace {

/// One scatterv on one rank.
class Scattering : SectionsBetweenNodes {
 public:
  Scattering(Transport& transport, const Arguments& arguments)
      : SectionsBetweenNodes(transport, arguments, arguments.call.root) {}

  Task<> run() {
    const Scratch lengths = transport_.scratch(nodes_.speaks() ? index(mates()) * sizeof(SectionLength) : 0);
    if (!has_root()) co_await learn_lengths(lengths.data());
    const Scratch outgoing = transport_.scratch(lay_out_outgoing());
    const Scratch incoming = transport_.scratch(lay_out_incoming(lengths.data()));
    if (is_root()) write_messages(outgoing.data());
    co_await pass_collected(transport_, arguments_.call, between(outgoing.data(), incoming.data()));
    if (nodes_.speaks() && !has_root()) check_lengths(lengths.data(), incoming.data());
    co_await scatter_inside(lengths.data(), incoming.data());
    co_await pass_long(input_of(arguments_));
  }

 private:
  [[nodiscard]] int root() const { return arguments_.call.root; }
  [[nodiscard]] bool is_root() const { return transport_.rank() == root(); }
  [[nodiscard]] bool has_root() const { return nodes_.node_of(root()) == nodes_.number(); }
  [[nodiscard]] const Section& own() const { return arguments_.out_sections[index(root())]; }
  static SectionLength length_at(const std::byte* lengths, int mate) {
    SectionLength length = 0;
    std::memcpy(&length, lengths + index(mate) * sizeof length, sizeof length);
    return length;
  }

  /// The rank that speaks gets what each rank of the node expects.
  Task<> learn_lengths(std::byte* lengths) {
    own_length_ = own().bytes;
    to_mates_.fill({});
    to_mates_[index(nodes_.speaker())] = {0, sizeof own_length_};
    for (int mate = 0; mate < mates(); ++mate) {
      const std::size_t bytes = nodes_.speaks() ? sizeof(SectionLength) : 0;
      from_mates_[index(mate)] = {index(mate) * bytes, bytes};
    }
    return nodes_.run({.where = Phase::Where::inside, .collective = Collective::gatherv},
                      {.call = arguments_.call,
                       .in = reinterpret_cast<const std::byte*>(&own_length_),
                       .out = nodes_.speaks() ? lengths : nullptr,
                       .in_sections = to_mates_,
                       .out_sections = from_mates_});
  }

  /// Calls `what` for each node but the root's, with the places of its ranks among those of all, node by node.
  template <class What>
  void for_other_nodes(What what) const {
    std::size_t begin = 0;
    for (int node = 0; node < static_cast<int>(nodes_.sizes().size()); ++node) {
      const std::span<const int> ranks = std::span(nodes_.ranks()).subspan(begin, index(nodes_.sizes()[index(node)]));
      if (node != nodes_.node_of(root())) what(ranks);
      begin += ranks.size();
    }
  }
  [[nodiscard]] std::size_t lay_out_outgoing() {
    std::size_t end = 0;
    to_ranks_.fill({});
    if (!is_root()) return end;
    for_other_nodes([&](std::span<const int> ranks) {
      std::size_t bytes = ranks.size() * sizeof(SectionLength);
      for (const int rank : ranks) bytes += collected(arguments_.in_sections[index(rank)].bytes);
      to_ranks_[index(ranks.front())] = {end, bytes};
      end += bytes;
    });
    return end;
  }
  [[nodiscard]] std::size_t lay_out_incoming(const std::byte* lengths) {
    from_ranks_.fill({});
    if (has_root() || !nodes_.speaks()) return 0;
    std::size_t bytes = index(mates()) * sizeof(SectionLength);
    for (int mate = 0; mate < mates(); ++mate) bytes += collected(length_at(lengths, mate));
    from_ranks_[index(root())] = {0, bytes};
    return bytes;
  }
  void write_messages(std::byte* out) const {
    for_other_nodes([&](std::span<const int> ranks) {
      for (const int rank : ranks) {
        const SectionLength length = arguments_.in_sections[index(rank)].bytes;
        std::memcpy(out, &length, sizeof length);
        out += sizeof length;
      }
      for (const int rank : ranks) {
        const Section& section = arguments_.in_sections[index(rank)];
        if (collected(section.bytes) == 0) continue;
        std::memcpy(out, arguments_.in + section.offset, section.bytes);
        out += section.bytes;
      }
    });
  }
  void check_lengths(const std::byte* expected, const std::byte* given) const {
    const auto first = nodes_.ranks().begin() + nodes_.before(nodes_.number());
    for (int mate = 0; mate < mates(); ++mate) {
      check_length(arguments_.call, root(), length_at(given, mate), first[mate], length_at(expected, mate));
    }
  }

  /// From the root, or what has come from it but for long blocks.
  Task<> scatter_inside(const std::byte* lengths, const std::byte* message) {
    const auto first = nodes_.ranks().begin() + nodes_.before(nodes_.number());
    std::size_t end = index(mates()) * sizeof(SectionLength);
    for (int mate = 0; mate < mates(); ++mate) {
      Section& to = to_mates_[index(mate)];
      to = {};
      if (is_root()) to = arguments_.in_sections[index(first[mate])];
      if (!has_root() && nodes_.speaks()) to = {end, collected(length_at(lengths, mate))};
      end += to.bytes;
    }
    from_mates_.fill({});
    from_mates_[index(nodes_.speaker())] = {own().offset, has_root() ? own().bytes : collected(own().bytes)};
    return nodes_.run({.where = Phase::Where::inside, .collective = Collective::scatterv},
                      {.call = arguments_.call,
                       .in = is_root() ? arguments_.in : message,
                       .out = arguments_.out,
                       .in_sections = to_mates_,
                       .out_sections = from_mates_});
  }

  SectionLength own_length_ = 0;
};

}  // namespace

Task<> scatter_by_lanes(Transport& transport, Arguments arguments) {
  Scattering scattering(transport, arguments);
  co_await scattering.run();
}

}  // namespace chorus
