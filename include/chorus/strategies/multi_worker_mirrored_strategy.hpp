// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/device.hpp>
#include <chorus/strategies/cluster_resolver.hpp>
#include <chorus/strategies/strategy.hpp>

#include <memory>
#include <vector>

namespace chorus {

/// MirroredStrategy over several processes: each rank of a communicator is a worker with the same number of replicas.
class CHORUS_API MultiWorkerMirroredStrategy final : public Strategy {
 public:
  struct Setup {
    /// The replicas of this worker run on these; empty: one replica, on the first device this process may use.
    std::vector<Device> devices = {};
    CommunicationOptions communication_options = {};
    /// Null: CollectiveAllReduce.
    std::unique_ptr<CrossDeviceOps> cross_device_ops = {};
    /// Null: MpiClusterResolver, which takes the workers from `workers`.
    std::shared_ptr<const ClusterResolver> cluster_resolver = {};
  };
  /// Called by every rank of `workers`, which become workers in the order that the cluster resolver gives them: the
  /// chief first. Worker 0 prints one line that says how many take part.
  /// Throws   Error{invalid_argument} where a device is named twice, this process may not run on all of one, or the
  ///          workers have different numbers of them, and on every worker where another one throws for what it is
  ///          given; Error{invalid_environment} where the launcher has started more processes than `workers` has
  ///          ranks, or a variable of the environment is wrong; Error{timeout} where a rank has not come after
  ///          `communication_options.timeout`, and `workers` is then broken.
  MultiWorkerMirroredStrategy(const Communicator& workers, Setup setup);
  explicit MultiWorkerMirroredStrategy(const Communicator& workers = Communicator::world());
};

}  // namespace chorus
