// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs.hpp"
#include "worker_reduction.hpp"

#include <chorus/request.hpp>
#include <chorus/strategies/cross_device_ops.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace chorus {

/// An all_reduce of tensors in packs, the last pack first: of the replicas of each worker, then of the workers, several
/// packs at a time. Every replica makes one, with the same tensors and options.
class PackedAllReduce final : public PendingAllReduce, private ReplicaGroup::Unsent {
 public:
  enum class Start : bool { at_once, as_tensors_are_ready };

  /// `values` are looked at when their pack starts. With Start::at_once `wait` does everything.
  PackedAllReduce(ReplicaGroup& group, int local_replica, ReduceOp op, std::span<const TensorRef> values,
                  const CommunicationOptions& options, Start start);
  PackedAllReduce(const PackedAllReduce&) = delete;
  PackedAllReduce& operator=(const PackedAllReduce&) = delete;
  ~PackedAllReduce() override;

  void ready(std::size_t number) override;
  void wait() override;

 private:
  struct Pack {
    std::vector<std::size_t> numbers;
    std::size_t awaited;  // tensors that are not ready
    std::unique_ptr<Packed> packed = {};
    Request local = {};
    std::unique_ptr<WorkerReduction> between_workers = {};
    bool exact = false;
    ReduceOp join = ReduceOp::sum;  // of the collectives

    [[nodiscard]] const TensorRef& tensor() const { return packed->tensor(); }
  };

  void send() override;
  /// Begins what the local replicas do together: what others have begun is sent first.
  void take_over();
  /// Says it again of the collectives that begin next, as there may have been others since this was made.
  void say_purpose() const;
  void start_next();
  void start_between_workers(Pack& pack);
  /// Sends what the replicas of this worker have reduced.
  void progress();
  /// The same of all that has started, for which it waits.
  void send_started();
  void finish();
  void bring_back(Pack& pack);

  ReplicaGroup& group_;
  int local_replica_;
  ReduceOp op_;
  std::span<const TensorRef> values_;
  CommunicationOptions options_;
  Start start_;
  CallPurpose purpose_;
  std::vector<Pack> packs_;  // in the order in which they start
  std::vector<std::size_t> pack_of_;
  std::size_t started_ = 0;  // packs
  std::size_t sent_ = 0;     // packs that the replicas of this worker have reduced
};

}  // namespace chorus
