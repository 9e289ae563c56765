// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/reduce_op.hpp>
#include <chorus/strategies/communication_options.hpp>
#include <chorus/strategies/replica_context.hpp>
#include <chorus/strategies/structure.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace chorus {

class PendingAllReduce;

/// An all_reduce in place of a structure whose parts are computed one after the other, as gradients are: what is ready
/// is sent, in packs, while the replica computes the rest. The last parts are expected first.
///
///     chorus::OverlappedAllReduce sums(chorus::ReduceOp::sum, gradients);
///     gradients.output = ...;
///     sums.ready(gradients.output);
///     gradients.hidden = ...;
///     sums.wait();  // gradients are the sums over all replicas
///
/// Packs move on in `ready` and `wait`; with CHORUS_PROGRESS_THREAD=1 also in between.
///
/// Order    every replica makes one, with the same structure, types and shapes, and waits for it. They may be ready
///          with their parts in different orders. What they reduce, gather, merge or write meanwhile, each after the
///          same parts, waits until all of the worker have begun the packs under way: it comes after these on every
///          worker.
class CHORUS_API OverlappedAllReduce {
 public:
  /// In a replica. `value` outlives this and keeps its shapes.
  /// Throws   as ReplicaContext::all_reduce.
  template <Structure T>  // of tensors: how many rows IndexedSlices will have is not known before
  OverlappedAllReduce(ReduceOp op, T& value, const CommunicationOptions& options = {}) {
    for_each_leaf(value, [&](auto& leaf, const auto& /*path*/) { parts_.push_back(part_of(leaf)); });
    start(op, options);
  }
  OverlappedAllReduce(const OverlappedAllReduce&) = delete;
  OverlappedAllReduce& operator=(const OverlappedAllReduce&) = delete;
  /// Waits for the packs that are under way. Where `wait` has not been called the run throws
  /// Error{invalid_argument} at its end.
  ~OverlappedAllReduce();

  /// `part`, the structure or something in it, is computed, and is not touched until `wait` has returned.
  /// Throws   Error{invalid_argument} for what is no part of the structure, was ready before, or has another shape;
  ///          what all_reduce throws.
  template <Structure T>
  void ready(T& part) {
    for_each_leaf(part, [&](auto& leaf, const auto& /*path*/) { ready_leaf(&leaf); });
  }
  /// Returns when all parts are reduced. Those that are not ready have been computed by now.
  /// Throws   what all_reduce throws; Error{invalid_argument} where a part has another shape than before.
  void wait();

 private:
  struct Part {
    const void* leaf;
    TensorRef (*tensor)(const void* leaf);
    bool ready = false;
  };

  template <Leaf T>
  static Part part_of(T& leaf) {
    return {&leaf, [](const void* it) { return tensor_ref(*const_cast<T*>(static_cast<const T*>(it))); }};
  }
  void start(ReduceOp op, const CommunicationOptions& options);
  void ready_leaf(const void* leaf);
  void renew(std::size_t number);

  ReplicaContext* replica_ = nullptr;
  std::vector<Part> parts_;
  std::vector<TensorRef> tensors_;             // of the parts
  std::unique_ptr<PendingAllReduce> pending_;  // null: there is one replica only, or all is done
};

}  // namespace chorus
