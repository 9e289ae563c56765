// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/replicas.hpp"
#include "mpi/job.hpp"

#include <chorus/interop/mpi.hpp>
#include <chorus/strategies/multi_worker_mirrored_strategy.hpp>

#include <exception>
#include <string>
#include <utility>

namespace chorus::test {

/// The text of what `statement` throws, which is to be an exception.
template <class Statement>
[[nodiscard]] std::string thrown_text(const Statement& statement) {
  try {
    statement();
  } catch (const std::exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown on worker " << job_rank();
  return "";
}

/// Whether the next run and the next reduction are right.
inline void expect_works(MultiWorkerMirroredStrategy& several) {
  EXPECT_EQ(several.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, 1); })[0],
            several.num_replicas_in_sync());
  EXPECT_EQ(several.reduce(ReduceOp::sum, several.run([] { return 1; })), several.num_replicas_in_sync());
}

/// Tests on every rank of a job, with several numbers of replicas on each.
class MultiWorker : public testing::TestWithParam<int> {
 protected:
  /// By the variables of the environment as they are now.
  [[nodiscard]] static MultiWorkerMirroredStrategy strategy(const CommunicationOptions& options = {}) {
    MultiWorkerMirroredStrategy::Setup setup;
    setup.devices = some_devices(GetParam());
    setup.communication_options = options;
    return {from_mpi(MPI_COMM_WORLD), std::move(setup)};
  }
  [[nodiscard]] static int replicas() { return GetParam() * job_size(); }
  /// 0 + 1 + ... of all replicas.
  [[nodiscard]] static int sum_of_ids() { return replicas() * (replicas() - 1) / 2; }
};

}  // namespace chorus::test
