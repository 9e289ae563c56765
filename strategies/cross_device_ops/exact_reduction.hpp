// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/options.hpp>
#include <chorus/strategies/cross_device_ops.hpp>

namespace chorus {

// Sums over all replicas that are rounded once, so that they have the same bits however the replicas are spread over
// the workers. For tensors of float, double and complex numbers of these; what holds for the functions without
// `exactly` holds for these.

[[nodiscard]] constexpr bool can_be_exact(DataType type) noexcept {
  return type == DataType::float32 || type == DataType::float64 || type == DataType::complex64 ||
         type == DataType::complex128;
}
/// Called by every replica.
void all_reduce_exactly(const ReplicaGroup& group, int local_replica, const TensorRef& tensor,
                        const CollectiveOptions& options);
/// Called once by every worker; the result is left in every component.
void reduce_exactly(const ReplicaGroup& group, const ReplicaTensors& components, const CollectiveOptions& options);

}  // namespace chorus
