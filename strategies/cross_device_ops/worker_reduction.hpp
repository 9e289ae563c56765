// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/reduce_op.hpp>
#include <chorus/strategies/communication_options.hpp>
#include <chorus/strategies/leaf.hpp>

#include <memory>

namespace chorus {

class ReplicaGroup;

/// An allreduce in place of one tensor over the workers, under way. Several may be: every worker starts them in the
/// same order, then calls `go_on` of each, then `wait`.
class WorkerReduction {
 public:
  WorkerReduction() = default;
  WorkerReduction(const WorkerReduction&) = delete;
  WorkerReduction& operator=(const WorkerReduction&) = delete;
  virtual ~WorkerReduction() = default;

  /// Starts what comes after a first half, where there are two.
  virtual void go_on() {}
  /// Returns when the tensor is reduced.
  virtual void wait() = 0;
};

[[nodiscard]] std::unique_ptr<WorkerReduction> start_worker_reduction(const ReplicaGroup& group,
                                                                      const TensorRef& tensor, ReduceOp op,
                                                                      const CommunicationOptions& options);

/// True where the options have tensors of `type` sent in a shorter one.
[[nodiscard]] bool is_compressed(const CommunicationOptions& options, DataType type) noexcept;

}  // namespace chorus
