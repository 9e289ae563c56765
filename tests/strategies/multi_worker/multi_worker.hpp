// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/replicas.hpp"
#include "mpi/job.hpp"

#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>

#include <utility>

namespace chorus::test {

/// Tests on every rank of a job, with several numbers of replicas on each.
class MultiWorker : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static MultiWorkerMirroredStrategy strategy(const CommunicationOptions& options = {}) {
    MultiWorkerMirroredStrategy::Setup setup;
    setup.devices = some_devices(GetParam());
    setup.communication_options = options;
    return {Communicator::world(), std::move(setup)};
  }
  [[nodiscard]] static int replicas() { return GetParam() * job_size(); }
  /// 0 + 1 + ... of all replicas.
  [[nodiscard]] static int sum_of_ids() { return replicas() * (replicas() - 1) / 2; }
};

}  // namespace chorus::test
