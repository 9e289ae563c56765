// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sparse/rows.hpp"

#include <chorus/strategies/communication_options.hpp>
#include <chorus/strategies/replica_group.hpp>

#include <span>
#include <vector>

namespace chorus {

/// What the rows of all replicas are together, of one leaf.
struct JoinedRows {
  bool dense = false;  ///< there are so many that whole tensors shall be reduced: `rows` has only their indices
  Rows rows;
};

/// The rows of one leaf, of every local replica.
using ReplicaRows = std::vector<const Rows*>;

/// Joins the rows of all replicas of all workers. Whether a leaf is dense follows from what all of them have together,
/// and is the same on every worker. Called by one thread of every worker, with as many leaves.
/// Throws   Error{invalid_argument} on every worker where the rows of a leaf differ in type or dense_shape.
[[nodiscard]] std::vector<JoinedRows> join_rows(const ReplicaGroup& group, std::span<const ReplicaRows> leaves,
                                                Duplicates duplicates, const CommunicationOptions& options);

}  // namespace chorus
