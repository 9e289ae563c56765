// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/cluster_resolver.hpp>

#include <optional>
#include <string>

namespace chorus {

struct MpiResolverOptions {
  std::string host = {};  ///< the name of this rank's host; empty: as the system says
  TaskInfo task = {};
  std::optional<int> num_accelerators = {};
};

/// The ranks of a communicator, each a worker: task r of job "worker" is rank r, its address the name of its host.
/// The resolver to take under mpirun and srun: it needs no environment variable, as MPI knows its ranks.
class CHORUS_API MpiClusterResolver final : public ClusterResolver {
 public:
  /// Called by every rank of `comm`, which is not kept.
  /// Throws   what a collective throws.
  explicit MpiClusterResolver(const Communicator& comm, MpiResolverOptions options = {});

  [[nodiscard]] ClusterSpec cluster_spec() const override { return cluster_; }
  [[nodiscard]] std::optional<int> num_accelerators() const override { return num_accelerators_; }

 private:
  [[nodiscard]] TaskInfo found() const override { return found_; }

  ClusterSpec cluster_;
  TaskInfo found_;
  std::optional<int> num_accelerators_;
};

}  // namespace chorus
