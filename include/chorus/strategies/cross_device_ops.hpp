// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device_span.hpp>
#include <chorus/export.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/strategies/communication_options.hpp>
#include <chorus/strategies/device_tensor_ref.hpp>
#include <chorus/strategies/leaf.hpp>
#include <chorus/strategies/replica_group.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace chorus {

/// One tensor of every local replica, in their order: of one type and shape.
using ReplicaTensors = std::vector<TensorRef>;

/// An all_reduce under way, of tensors that are computed one after the other: CrossDeviceOps::start_all_reduce.
class CHORUS_API PendingAllReduce {
 public:
  PendingAllReduce() = default;
  PendingAllReduce(const PendingAllReduce&) = delete;
  PendingAllReduce& operator=(const PendingAllReduce&) = delete;
  virtual ~PendingAllReduce() = default;

  /// Tensor `number` has its value and is not touched until `wait` has returned. Called once for a tensor.
  virtual void ready(std::size_t number) = 0;
  /// Returns when all are reduced; those that are not ready have their values, too. Called by every replica.
  virtual void wait() = 0;
};

/// How tensors are reduced over all replicas: give your own to a strategy by deriving from it.
class CHORUS_API CrossDeviceOps {
 public:
  CrossDeviceOps() = default;
  CrossDeviceOps(const CrossDeviceOps&) = delete;
  CrossDeviceOps& operator=(const CrossDeviceOps&) = delete;
  virtual ~CrossDeviceOps() = default;

  /// Reduces each of `values` over all replicas of all workers, in place: afterwards every component is the result.
  /// Called outside of the replicas by every worker, with the same number, types and shapes of values.
  /// Throws   Error{invalid_argument} where a value has not one component for each local replica or these differ in
  ///          type or shape; what the collectives throw.
  void batch_reduce(ReplicaGroup& group, ReduceOp op, std::span<const ReplicaTensors> values,
                    const CommunicationOptions& options = {});

  /// The same, called by every replica with its own components. What is not overridden meets the other replicas and
  /// lets the first one do it for all.
  virtual void all_reduce(ReplicaGroup& group, int local_replica, ReduceOp op, std::span<const TensorRef> values,
                          const CommunicationOptions& options);

  /// The same of memory of GPUs, of which every replica has one of its own, in the order of `stream`. What is not
  /// overridden goes by chorus's collectives on such memory: among the replicas where there is one worker, among the
  /// workers where each has one replica, and else to the first replica of each worker, among these, and back.
  /// Throws   what these throw; Error{not_supported} for reproducible sums and averages of floating-point numbers
  ///          in the last case.
  virtual void all_reduce_on_device(ReplicaGroup& group, int local_replica, ReduceOp op, const DeviceTensorRef& values,
                                    Stream stream, const CommunicationOptions& options);

  /// An all_reduce that starts while the replicas still compute: the tensors that `values` views (they and the view
  /// outlive it) are ready in whatever order. What is not overridden does it all in `wait`.
  [[nodiscard]] virtual std::unique_ptr<PendingAllReduce> start_all_reduce(ReplicaGroup& group, int local_replica,
                                                                           ReduceOp op,
                                                                           std::span<const TensorRef> values,
                                                                           const CommunicationOptions& options);

 protected:
  /// batch_reduce, its arguments checked. What is not overridden adds the components up in the order of the replicas,
  /// by the thread that calls, and copies the result to each.
  virtual void batch_reduce_implementation(ReplicaGroup& group, ReduceOp op, std::span<const ReplicaTensors> values,
                                           const CommunicationOptions& options);
};

/// Every replica takes part in a collective of the local replicas, and the first of each worker in one of the workers.
/// Tensors of one type are packed and the packs reduced in the opposite order, as gradients come last layer first; a
/// pack starts when its tensors are ready and those before it have started.
class CHORUS_API CollectiveAllReduce final : public CrossDeviceOps {
 public:
  void all_reduce(ReplicaGroup& group, int local_replica, ReduceOp op, std::span<const TensorRef> values,
                  const CommunicationOptions& options) override;
  [[nodiscard]] std::unique_ptr<PendingAllReduce> start_all_reduce(ReplicaGroup& group, int local_replica, ReduceOp op,
                                                                   std::span<const TensorRef> values,
                                                                   const CommunicationOptions& options) override;
};

/// The components are brought to one replica, which adds them up in the order of the replicas, and copied back.
class CHORUS_API ReductionToOneDevice final : public CrossDeviceOps {};

/// Pairs of replicas of a worker are reduced, then pairs of pairs, to the first one; the workers reduce what these
/// have, and the result is copied from the first replica to each of the others. Any number of replicas.
class CHORUS_API HierarchicalCopyAllReduce final : public CrossDeviceOps {
 protected:
  void batch_reduce_implementation(ReplicaGroup& group, ReduceOp op, std::span<const ReplicaTensors> values,
                                   const CommunicationOptions& options) override;
};

/// Memory of GPUs is reduced by NCCL, and never in another way: a call throws Error{not_supported} where NCCL does not
/// connect the GPUs, or has not the type or operation, and Error{not_built} where the library has been built without.
/// Tensors of the host are reduced as by ReductionToOneDevice; the first time a line says so.
class CHORUS_API NcclAllReduce final : public CrossDeviceOps {
 public:
  void all_reduce_on_device(ReplicaGroup& group, int local_replica, ReduceOp op, const DeviceTensorRef& values,
                            Stream stream, const CommunicationOptions& options) override;

 protected:
  void batch_reduce_implementation(ReplicaGroup& group, ReduceOp op, std::span<const ReplicaTensors> values,
                                   const CommunicationOptions& options) override;
};

}  // namespace chorus
