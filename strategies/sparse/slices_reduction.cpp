// SPDX-License-Identifier: Apache-2.0
#include "sparse/slices_reduction.hpp"

#include "cross_device_ops/reduction.hpp"
#include "sparse/join_rows.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/axes.hpp>
#include <chorus/strategies/batch.hpp>

#include <fmt/format.h>

#include <cstring>
#include <memory>

namespace chorus {
namespace {

std::vector<Rows> rows_of_all(std::span<const SlicesRef> leaves, Duplicates duplicates) {
  std::vector<Rows> all;
  for (const SlicesRef& leaf : leaves) {
    detail::check_slices(leaf, "all_reduce");
    all.push_back(rows_of(leaf, duplicates));
  }
  return all;
}

/// The whole tensor that `rows`, each of another index, stand for.
Rows whole(const Rows& rows) {
  Rows all = rows.none();
  const std::size_t bytes = rows.row_bytes();
  all.values.resize(rows.dense_shape.front() * bytes);
  for (std::size_t i = 0; i < rows.indices.size() && bytes != 0; ++i) {
    std::memcpy(all.values.data() + static_cast<std::size_t>(rows.indices[i]) * bytes, rows.values.data() + i * bytes,
                bytes);
  }
  return all;
}

/// What one replica has of the leaves that are reduced as whole tensors.
class WholeTensors {
 public:
  WholeTensors(std::span<const Rows> mine, std::span<const JoinedRows> joined) {
    for (std::size_t leaf = 0; leaf < joined.size(); ++leaf) {
      if (!joined[leaf].dense) continue;
      memory_.push_back(whole(mine[leaf]));
      tensors_.push_back(memory_.back().tensor(0, memory_.back().dense_shape.front()));
    }
  }
  [[nodiscard]] std::span<const TensorRef> tensors() const { return tensors_; }

  /// Makes this replica's slices the result: of the tensors, which have been reduced, and of the joined rows.
  void put(std::span<const JoinedRows> joined, std::span<const SlicesRef> leaves) const {
    auto tensor = tensors_.begin();
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      const std::vector<std::int64_t>& indices = joined[leaf].rows.indices;
      if (joined[leaf].dense) {
        put_rows(*tensor++, std::vector<std::size_t>(indices.begin(), indices.end()), indices, leaves[leaf]);
      } else {
        put_rows(joined[leaf].rows.tensor(), detail::numbers(0, indices.size()), indices, leaves[leaf]);
      }
    }
  }

 private:
  std::vector<Rows> memory_;
  std::vector<TensorRef> tensors_;
};

/// Joins the rows of all replicas; those that are not reduced as whole tensors then are the result.
std::vector<JoinedRows> reduced_rows(const ReplicaGroup& group, ReduceOp op, std::span<const ReplicaRows> leaves,
                                     Duplicates duplicates, const CommunicationOptions& options) {
  std::vector<JoinedRows> joined = join_rows(group, leaves, duplicates, options);
  for (const JoinedRows& leaf : joined) {
    if (op == ReduceOp::average && !leaf.dense) divide_tensor(leaf.rows.tensor(), group.layout().replicas());
  }
  return joined;
}

/// Of the lists of several replicas, in each the parts of every leaf: one list for each leaf.
std::vector<ReplicaRows> by_leaf(std::span<const std::vector<Rows>* const> replicas) {
  std::vector<ReplicaRows> leaves(replicas.front()->size());
  for (const std::vector<Rows>* replica : replicas) {
    if (replica->size() != leaves.size()) {
      throw Error(ErrorCode::mismatch,
                  fmt::format("all_reduce: the replicas give different numbers of IndexedSlices, {} and {}: give as "
                              "many on every replica",
                              leaves.size(), replica->size()));
    }
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) leaves[leaf].push_back(&(*replica)[leaf]);
  }
  return leaves;
}

}  // namespace

void check_operation(ReduceOp op, std::span<const SlicesRef> leaves, const char* function) {
  for (const SlicesRef& leaf : leaves) {
    if (op != ReduceOp::sum && op != ReduceOp::average) {
      throw Error(ErrorCode::not_supported,
                  fmt::format("{}: IndexedSlices are reduced by sum or average only, not by {}, as the rows they leave "
                              "out are zero: reduce to_dense(slices)",
                              function, name(op)));
    }
    detail::check_operation(op, leaf.values().type, function);
  }
}

void reduce_slices(ReplicaGroup& group, CrossDeviceOps& ops, ReduceOp op, std::span<const ReplicaSlices> leaves,
                   const CommunicationOptions& options) {
  std::vector<ReplicaSlices> slices(static_cast<std::size_t>(group.layout().local_replicas));
  for (const ReplicaSlices& leaf : leaves) {
    for (std::size_t replica = 0; replica < slices.size(); ++replica) slices[replica].push_back(leaf[replica]);
  }
  std::vector<std::vector<Rows>> rows;
  for (const ReplicaSlices& mine : slices) {
    check_operation(op, mine, "all_reduce");
    rows.push_back(rows_of_all(mine, Duplicates::summed));
  }
  std::vector<const std::vector<Rows>*> replicas;
  for (const std::vector<Rows>& mine : rows) replicas.push_back(&mine);
  const std::vector<JoinedRows> joined = reduced_rows(group, op, by_leaf(replicas), Duplicates::summed, options);

  std::vector<WholeTensors> whole_tensors;
  for (const std::vector<Rows>& mine : rows) whole_tensors.emplace_back(mine, joined);
  std::vector<ReplicaTensors> components(whole_tensors.front().tensors().size());
  for (const WholeTensors& mine : whole_tensors) {
    for (std::size_t i = 0; i < components.size(); ++i) components[i].push_back(mine.tensors()[i]);
  }
  ops.batch_reduce(group, op, components, options);
  for (std::size_t replica = 0; replica < slices.size(); ++replica) {
    whole_tensors[replica].put(joined, slices[replica]);
  }
}

void all_reduce_slices(ReplicaGroup& group, int local_replica, CrossDeviceOps& ops, ReduceOp op, Duplicates duplicates,
                       std::span<const SlicesRef> leaves, const CommunicationOptions& options) {
  check_operation(op, leaves, "all_reduce");
  const std::vector<Rows> mine = rows_of_all(leaves, duplicates);
  using Joined = std::shared_ptr<const std::vector<JoinedRows>>;
  Joined of_all;
  const auto brought = group.meet(local_replica, {"all_reduce of IndexedSlices", {}, options.timeout, true}, &mine);
  if (local_replica == 0) {
    const ReplicaGroup::Reading reading(group);
    std::vector<const std::vector<Rows>*> replicas;
    for (const void* each : brought) replicas.push_back(static_cast<const std::vector<Rows>*>(each));
    of_all = std::make_shared<std::vector<JoinedRows>>(reduced_rows(group, op, by_leaf(replicas), duplicates, options));
  }
  const auto of_first = group.meet(local_replica, {"the rows of an all_reduce", {}, options.timeout}, &of_all);
  const Joined shared = [&] {  // it outlives replica 0's call, which may fail
    const ReplicaGroup::Reading reading(group);
    return *static_cast<const Joined*>(of_first.front());
  }();
  const std::vector<JoinedRows>& joined = *shared;

  const WholeTensors whole_tensors(mine, joined);
  if (!whole_tensors.tensors().empty()) ops.all_reduce(group, local_replica, op, whole_tensors.tensors(), options);
  whole_tensors.put(joined, leaves);
  group.meet(local_replica, {"the end of an all_reduce of IndexedSlices", {}, options.timeout});
}

}  // namespace chorus
