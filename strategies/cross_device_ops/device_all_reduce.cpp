// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

#include <chorus/allreduce.hpp>
#include <chorus/bcast.hpp>
#include <chorus/device_span.hpp>
#include <chorus/error.hpp>
#include <chorus/reduce.hpp>
#include <chorus/strategies/cross_device_ops.hpp>

namespace chorus {
namespace {

CollectiveOptions options_on_device(const CommunicationOptions& options) {
  CollectiveOptions collective = without_algorithm(collective_options(options));
  if (options.implementation == CommunicationImplementation::nccl) collective.algorithm = "nccl";
  return collective;
}

void check_not_reproducible(ReduceOp op, DataType type, const CommunicationOptions& options) {
  const bool rounds = (op == ReduceOp::sum || op == ReduceOp::average) && type > DataType::uint64;
  if (!options.reproducible || !rounds) return;
  throw Error(ErrorCode::not_supported,
              "all_reduce of memory of GPUs: CommunicationOptions::reproducible sums of floating-point numbers with "
              "several workers that have several replicas each: start a worker for each GPU, or reduce tensors of the "
              "host");
}

}  // namespace

void CrossDeviceOps::all_reduce_on_device(ReplicaGroup& group, int local_replica, ReduceOp op,
                                          const DeviceTensorRef& values, Stream stream,
                                          const CommunicationOptions& options) {
  const ReplicaLayout& layout = group.layout();
  if (layout.replicas() == 1) return;
  const CollectiveOptions collective = options_on_device(options);
  const detail::Buffers buffers{values.data, values.data,          values.count, values.count,
                                values.type, size_of(values.type), &stream};
  const detail::Operation operation{.op = op, .owner = nullptr};
  const auto among_workers = [&] { detail::allreduce(*group.workers(), buffers, operation, collective); };
  if (layout.local_replicas == 1) return among_workers();
  const Communicator& local = group.local(local_replica);
  if (layout.workers == 1) {
    return group.collectively([&] { detail::allreduce(local, buffers, operation, collective); });
  }
  check_not_reproducible(op, values.type, options);
  // As many replicas on each worker: the average of their averages is that of all.
  group.collectively([&] { detail::reduce(local, buffers, operation, 0, collective); });
  if (local_replica == 0) {
    // Where a replica has failed and does not come to it the workers' call would wait for the stream without end: it
    // hears of other workers alone.
    group.collectively([&] { synchronize(local, stream); });
    among_workers();
  }
  group.collectively([&] { detail::bcast(local, buffers, 0, collective); });
}

}  // namespace chorus
