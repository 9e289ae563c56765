// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sparse/rows.hpp"

#include <chorus/strategies/cross_device_ops.hpp>

#include <cstddef>
#include <span>

namespace chorus {

/// Whether `rows_sent`, with their indices, are more bytes to move than whole tensors of `dense_rows` rows.
///
/// With p ranks an all-gather of n bytes in all moves (p-1)/p n to each of them, and an all-reduce of m bytes
/// 2 (p-1)/p m (Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005), so that slices are
/// worth while until n is twice m. It is the criterion of SparCML (Renggli et al., SC 2019), which has the factor 1 as
/// it compares what is stored.
[[nodiscard]] constexpr bool dense_moves_less(std::size_t rows_sent, std::size_t dense_rows, std::size_t row_bytes) {
  return rows_sent * (row_bytes + sizeof(std::int64_t)) > 2 * dense_rows * row_bytes;
}

/// Throws   Error{not_supported} where there are slices and `op` is neither sum nor average; what
///          detail::check_operation throws.
void check_operation(ReduceOp op, std::span<const SlicesRef> leaves, const char* function);

/// Joins the slices of all replicas of all workers, by sum or average, each of `leaves` in place: every component is
/// the result. Where that moves fewer bytes `ops` reduces whole tensors, whose rows without an index in any replica are
/// then left out. Called outside of the replicas by every worker, with the same leaves.
/// Throws   Error{not_supported} for another operation; Error{invalid_argument} on every worker where the replicas'
///          slices are of tensors that differ; what the collectives and `ops` throw.
void reduce_slices(ReplicaGroup& group, CrossDeviceOps& ops, ReduceOp op, std::span<const ReplicaSlices> leaves,
                   const CommunicationOptions& options);

/// The same, called by every replica with its own slices. Rows that are kept are one after the other in the order of
/// the replicas.
void all_reduce_slices(ReplicaGroup& group, int local_replica, CrossDeviceOps& ops, ReduceOp op, Duplicates duplicates,
                       std::span<const SlicesRef> leaves, const CommunicationOptions& options);

}  // namespace chorus
