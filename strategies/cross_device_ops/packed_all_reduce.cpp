// SPDX-License-Identifier: Apache-2.0
#include "packed_all_reduce.hpp"

#include "exact_reduction.hpp"
#include "reduction.hpp"

#include <chorus/communicator.hpp>

#include <utility>

namespace chorus {
namespace {

/// Where each worker has several replicas, sums of sums are rounded twice.
bool must_be_exact(const ReplicaGroup& group, ReduceOp op, DataType type, const CommunicationOptions& options) {
  const bool sums = op == ReduceOp::sum || op == ReduceOp::average;
  return options.reproducible && sums && can_be_exact(type) && group.layout().local_replicas > 1 &&
         group.workers() != nullptr;
}

/// That of the call that this replica is in.
CallPurpose purpose_of(const ReplicaGroup& group, int local_replica) {
  if (group.layout().local_replicas > 1) return group.local(local_replica).purpose();
  return group.workers() != nullptr ? group.workers()->purpose() : CallPurpose{};
}

/// The operation of the collectives. Averages that are rounded once are sums that are divided afterwards; those of 16
/// bits would be infinite by then.
ReduceOp joined_by(ReduceOp op, DataType type, const CommunicationOptions& options) {
  return op == ReduceOp::average && options.reproducible && !has_16_bits(type) ? ReduceOp::sum : op;
}

}  // namespace

PackedAllReduce::PackedAllReduce(ReplicaGroup& group, int local_replica, ReduceOp op, std::span<const TensorRef> values,
                                 const CommunicationOptions& options, Start start)
    : group_(group),
      local_replica_(local_replica),
      op_(op),
      values_(values),
      options_(options),
      start_(start),
      purpose_(purpose_of(group, local_replica)),
      pack_of_(values.size()) {
  Packs packs = packs_of(values, options, group.shares_memory());
  for (auto pack = packs.rbegin(); pack != packs.rend(); ++pack) {
    for (const std::size_t number : *pack) pack_of_[number] = packs_.size();
    const std::size_t length = pack->size();
    packs_.push_back({.numbers = std::move(*pack), .awaited = length});
  }
}

PackedAllReduce::~PackedAllReduce() { group_.forget(local_replica_, *this); }

void PackedAllReduce::say_purpose() const {
  if (group_.layout().local_replicas > 1) group_.local(local_replica_).set_purpose(purpose_);
  if (local_replica_ == 0 && group_.workers() != nullptr) group_.workers()->set_purpose(purpose_);
}

void PackedAllReduce::take_over() {
  group_.send_next(local_replica_, this);
  say_purpose();
}

void PackedAllReduce::ready(std::size_t number) {
  take_over();
  --packs_[pack_of_.at(number)].awaited;
  group_.collectively([&] {
    while (started_ < packs_.size() && packs_[started_].awaited == 0) start_next();
    progress();
  });
}

void PackedAllReduce::start_next() {
  const bool several = group_.layout().local_replicas > 1;
  Pack& pack = packs_[started_];
  pack.packed = std::make_unique<Packed>(values_, pack.numbers);
  pack.exact = must_be_exact(group_, op_, pack.tensor().type, options_);
  pack.join = joined_by(op_, pack.tensor().type, options_);
  const CollectiveOptions collective = collective_options(options_);
  if (pack.exact) {
    send_started();  // it goes to the workers here
    all_reduce_exactly(group_, local_replica_, pack.tensor(), without_algorithm(collective));
  } else if (several && start_ == Start::at_once) {
    all_reduce_tensor(group_.local(local_replica_), pack.tensor(), pack.join, collective);
  } else if (several) {
    pack.local = start_all_reduce_tensor(group_.local(local_replica_), pack.tensor(), pack.join, collective);
  }
  ++started_;
}

void PackedAllReduce::start_between_workers(Pack& pack) {
  ++sent_;
  if (group_.workers() == nullptr || local_replica_ != 0 || pack.exact) return;
  const bool at_once = start_ == Start::at_once && (packs_.size() == 1 || group_.shares_memory());
  if (at_once && !is_compressed(options_, pack.tensor().type)) {
    all_reduce_between_workers(group_, pack.tensor(), pack.join, options_);
    return;
  }
  pack.between_workers = start_worker_reduction(group_, pack.tensor(), pack.join, options_);
}

void PackedAllReduce::progress() {
  while (sent_ < started_ && packs_[sent_].local.test()) start_between_workers(packs_[sent_]);
}

void PackedAllReduce::send_started() {
  while (sent_ < started_) {
    packs_[sent_].local.wait();
    start_between_workers(packs_[sent_]);
  }
}

void PackedAllReduce::send() {
  if (sent_ == started_ || group_.workers() == nullptr) return;
  say_purpose();
  send_started();
}

void PackedAllReduce::wait() {
  take_over();
  group_.collectively([&] { finish(); });
}

void PackedAllReduce::finish() {
  while (sent_ < packs_.size()) {
    send_started();
    if (started_ < packs_.size()) start_next();
  }
  for (Pack& pack : packs_) {
    if (pack.between_workers) pack.between_workers->go_on();
  }
  for (Pack& pack : packs_) bring_back(pack);
}

void PackedAllReduce::bring_back(Pack& pack) {
  const ReplicaLayout layout = group_.layout();
  if (pack.between_workers) pack.between_workers->wait();
  if (layout.workers > 1 && layout.local_replicas > 1 && !pack.exact) {
    broadcast_tensor(group_.local(local_replica_), pack.tensor(), collective_options(options_));
  }
  if (pack.join != op_) divide_tensor(pack.tensor(), layout.replicas());
  pack.packed->unpack();
}

}  // namespace chorus
