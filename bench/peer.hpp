// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace chorus::bench {

/// What is measured in turn with chorus's collective: MPI's or NCCL's own, or chorus's with plain sums.
enum class Peer { mpi, nccl, plain };

struct PeerNames {
  std::string_view heading;
  std::string_view word;  ///< of command lines and the JSON
};
/// In the order of Peer.
inline constexpr std::array peer_names{PeerNames{"MPI", "native"}, PeerNames{"NCCL", "nccl"},
                                       PeerNames{"plain", "plain"}};

[[nodiscard]] constexpr const PeerNames& names_of(Peer peer) noexcept {
  return peer_names[static_cast<std::size_t>(peer)];
}

/// By one of the words.
[[nodiscard]] constexpr Peer peer_of(std::string_view word) noexcept {
  return static_cast<Peer>(std::ranges::find(peer_names, word, &PeerNames::word) - peer_names.begin());
}

}  // namespace chorus::bench
