// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"

#include <cstddef>
#include <vector>

namespace chorus {

/// From who has reached whom to groups in which everybody has reached everybody: the nodes. A table of one bit a pair,
/// and one a rank besides, of which every rank fills in its own row before the rows are gathered.
class NodeAgreement {
 public:
  explicit NodeAgreement(int ranks);

  void reached(int from, int to) noexcept;
  [[nodiscard]] bool has_reached(int from, int to) const noexcept;
  /// `from` can reach into all processes whose memory it shares.
  void reaches_into_all(int from) noexcept { reached(from, ranks_); }
  [[nodiscard]] bool everybody_reaches_into_all() const noexcept;
  /// All rows, one record a rank.
  [[nodiscard]] Bytes bytes() noexcept { return rows_; }
  /// The node of each rank, counted in the order of their first ranks. Each rank joins the first node all of whose
  /// ranks it has reached and that have reached it. The same table gives the same nodes on every rank.
  [[nodiscard]] std::vector<int> nodes() const;

 private:
  int ranks_;
  std::size_t row_bytes_;
  std::vector<std::byte> rows_;
};

}  // namespace chorus
