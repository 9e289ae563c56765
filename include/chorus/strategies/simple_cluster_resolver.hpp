// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/cluster_resolver.hpp>

#include <optional>
#include <string>

namespace chorus {

struct SimpleResolverOptions {
  std::string master = {};  ///< what master() gives unless it is asked for a task
  TaskInfo task = {};
  std::optional<int> num_accelerators = {};
};

/// A cluster that the program itself describes.
class CHORUS_API SimpleClusterResolver final : public ClusterResolver {
 public:
  /// Throws   Error{invalid_argument} where there are fewer than 0 accelerators.
  explicit SimpleClusterResolver(ClusterSpec cluster, SimpleResolverOptions options = {});

  [[nodiscard]] ClusterSpec cluster_spec() const override { return cluster_; }
  [[nodiscard]] std::optional<int> num_accelerators() const override { return num_accelerators_; }

 private:
  [[nodiscard]] TaskInfo found() const override { return {}; }
  /// The address of the task where `which` has both type and index, else the master of the options.
  [[nodiscard]] std::string find_master(const TaskInfo& which) const override;

  ClusterSpec cluster_;
  std::string master_;
  std::optional<int> num_accelerators_;
};

}  // namespace chorus
