// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/overlapped_all_reduce.hpp>

#include <chorus/error.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/cross_device_ops.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace chorus {

OverlappedAllReduce::~OverlappedAllReduce() = default;

void OverlappedAllReduce::start(ReduceOp op, const CommunicationOptions& options) {
  ReplicaContext* const replica = get_replica_context();
  if (replica == nullptr) {
    throw Error(ErrorCode::wrong_context,
                "OverlappedAllReduce: made outside of the replicas: make it in the function given to run");
  }
  for (const Part& part : parts_) tensors_.push_back(part.tensor(part.leaf));
  replica_ = replica;
  pending_ = replica->start_all_reduce_tensors(op, tensors_, options);
  if (pending_) ++replica->not_waited_for_;
}

void OverlappedAllReduce::ready_leaf(const void* leaf) {
  const auto part = std::ranges::find(parts_, leaf, &Part::leaf);
  if (part == parts_.end() || part->ready) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("OverlappedAllReduce::ready: {}: give each part of the structure that it was made with "
                            "once",
                            part == parts_.end() ? "this is no part of the structure" : "this part was ready before"));
  }
  part->ready = true;
  const auto number = static_cast<std::size_t>(part - parts_.begin());
  renew(number);
  if (pending_) pending_->ready(number);
}

void OverlappedAllReduce::renew(std::size_t number) {
  TensorRef tensor = parts_[number].tensor(parts_[number].leaf);
  if (tensor.shape != tensors_[number].shape) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("OverlappedAllReduce: part {} had shape {} and has {}: a part keeps the shape that it has "
                            "when the reduction is made",
                            number, to_string(tensors_[number].shape), to_string(tensor.shape)));
  }
  tensors_[number] = std::move(tensor);
}

void OverlappedAllReduce::wait() {
  for (std::size_t number = 0; number < parts_.size(); ++number) {
    if (!parts_[number].ready) renew(number);
  }
  const auto pending = std::exchange(pending_, nullptr);
  if (!pending) return;
  --replica_->not_waited_for_;
  pending->wait();
}

}  // namespace chorus
