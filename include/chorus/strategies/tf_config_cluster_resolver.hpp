// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/cluster_resolver.hpp>
#include <chorus/strategies/environment_variables.hpp>

#include <optional>
#include <string>

namespace chorus {

/// The cluster that the environment variable TF_CONFIG describes, as for TensorFlow:
///
///   {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}
///
/// "cluster" is the same on every process, "task" is not. A job is an array of addresses or an object from index to
/// address. The keys "environment", "rpc_layer" and "session_master" are read, too, and others ignored. Without the
/// variable the cluster is empty and nothing is known of this process.
class CHORUS_API TFConfigClusterResolver final : public ClusterResolver {
 public:
  /// Reads the variable, as reload() does.
  explicit TFConfigClusterResolver(TaskInfo said = {}, EnvironmentVariables variables = process_environment);

  /// Reads the variable again.
  /// Throws   Error{invalid_environment} where it is no JSON, or not of this form; the resolver is then as before.
  void reload();

  [[nodiscard]] ClusterSpec cluster_spec() const override { return cluster_; }

 private:
  [[nodiscard]] TaskInfo found() const override { return found_; }
  /// "session_master" where there is one; "" where the cluster has no more than one task.
  [[nodiscard]] std::string find_master(const TaskInfo& which) const override;

  EnvironmentVariables variables_;
  ClusterSpec cluster_;
  TaskInfo found_;
  std::optional<std::string> session_master_;
};

}  // namespace chorus
