// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/options.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/request.hpp>
#include <chorus/strategies/communication_options.hpp>
#include <chorus/strategies/leaf.hpp>

#include <chrono>

namespace chorus {

class Communicator;
class ReplicaGroup;

/// What the options ask of an allreduce between the replicas of a worker, which MPI does not know.
[[nodiscard]] CollectiveOptions collective_options(const CommunicationOptions& options) noexcept;
/// The same of a collective that has no algorithm of the implementation's.
[[nodiscard]] CollectiveOptions without_algorithm(CollectiveOptions options) noexcept;

/// allreduce in place of a tensor whose type is known at run time; min and max of what is not a number are that.
void all_reduce_tensor(const Communicator& comm, const TensorRef& tensor, ReduceOp op,
                       const CollectiveOptions& options);
[[nodiscard]] Request start_all_reduce_tensor(const Communicator& comm, const TensorRef& tensor, ReduceOp op,
                                              const CollectiveOptions& options);
/// The same between the workers, by their first replicas; where the options say so by MPI's own allreduce.
void all_reduce_between_workers(const ReplicaGroup& group, const TensorRef& tensor, ReduceOp op,
                                const CommunicationOptions& options);
[[nodiscard]] Request start_all_reduce_between_workers(const ReplicaGroup& group, const TensorRef& tensor, ReduceOp op,
                                                       const CommunicationOptions& options);
/// bcast of a tensor from rank 0.
void broadcast_tensor(const Communicator& comm, const TensorRef& tensor, const CollectiveOptions& options);
/// bcast of a tensor from the first worker to all, of which none goes on before all have come. In
/// ReplicaGroup::together.
void broadcast_of_first(const ReplicaGroup& group, const TensorRef& tensor, const CommunicationOptions& options);
/// Waits for all workers where the call has waited for nobody. In ReplicaGroup::together.
void wait_for_workers(const ReplicaGroup& group, std::chrono::nanoseconds timeout);
/// `inout` = `inout` op `in`, element by element.
void reduce_tensor_into(const TensorRef& inout, const TensorRef& in, ReduceOp op);
/// True of float16 and bfloat16, whose sums soon are infinite, or lose their digits.
[[nodiscard]] constexpr bool has_16_bits(DataType type) noexcept {
  return type == DataType::float16 || type == DataType::bfloat16;
}
/// Divides each element; leaves integers as they are.
void divide_tensor(const TensorRef& tensor, int divisor);

}  // namespace chorus
