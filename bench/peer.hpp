// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace chorus::bench {

/// What is measured in turn with chorus's collective: MPI's or NCCL's own, or chorus's with plain sums.
enum class Peer { mpi, nccl, plain };

/// As headings call it.
[[nodiscard]] constexpr std::string_view name_of(Peer peer) noexcept {
  switch (peer) {
    case Peer::mpi:
      return "MPI";
    case Peer::nccl:
      return "NCCL";
    case Peer::plain:
      return "plain";
  }
  return "";
}

/// As command lines and the JSON call it.
[[nodiscard]] constexpr std::string_view word_for(Peer peer) noexcept {
  switch (peer) {
    case Peer::mpi:
      return "native";
    case Peer::nccl:
      return "nccl";
    case Peer::plain:
      return "plain";
  }
  return "";
}

}  // namespace chorus::bench
