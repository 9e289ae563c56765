// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/cluster_spec.hpp>

#include <optional>
#include <string>
#include <utility>

namespace chorus {

/// What is known of a process: what the program says of it, or what a resolver has found. Nothing where it is not
/// known.
struct TaskInfo {
  std::optional<std::string> task_type = {};
  std::optional<int> task_id = {};
  std::optional<std::string> rpc_layer = {};    ///< how a master's address begins: "grpc" gives grpc://host:port
  std::optional<std::string> environment = {};  ///< where the cluster runs: "" or, for example, "google"
};

/// Says which processes a program runs on, and which of them this one is. Strategies ask it once, when they are made.
///
/// One for another kind of launcher derives from this class and says what it finds: cluster_spec() and found() are
/// enough.
class CHORUS_API ClusterResolver {
 public:
  virtual ~ClusterResolver();

  /// Every task of the cluster; empty where the program runs alone.
  [[nodiscard]] virtual ClusterSpec cluster_spec() const = 0;

  /// The address of a task, with its layer before it: that of `which`, else this process's.
  /// Result   "" where there is no such address to give: see each resolver.
  /// Throws   Error{invalid_argument} where the cluster has no such task.
  [[nodiscard]] std::string master(const TaskInfo& which = {}) const { return find_master(which); }

  /// How many accelerators (GPUs) a task may use; nothing where the resolver does not know.
  [[nodiscard]] virtual std::optional<int> num_accelerators() const;

  // What the program has said of this process, else what the resolver has found.

  [[nodiscard]] std::optional<std::string> task_type() const;
  [[nodiscard]] std::optional<int> task_id() const;
  [[nodiscard]] std::string rpc_layer() const;
  [[nodiscard]] std::string environment() const;
  /// Type and index together; nothing where neither is known.
  /// Throws   Error{invalid_argument} where only one of them is known.
  [[nodiscard]] std::optional<ClusterTask> task() const;

  /// Says it from now on; nothing: as the resolver has found it.
  void set_task_type(std::optional<std::string> type) { said_.task_type = std::move(type); }
  void set_task_id(std::optional<int> id) noexcept { said_.task_id = id; }

 protected:
  /// `said` by the program: it wins over what is found.
  explicit ClusterResolver(TaskInfo said = {});
  ClusterResolver(const ClusterResolver&) = default;
  ClusterResolver(ClusterResolver&&) = default;
  ClusterResolver& operator=(const ClusterResolver&) = default;
  ClusterResolver& operator=(ClusterResolver&&) = default;

  /// The address of the task that `which` names, where it says nothing of this process's, with its layer before it; ""
  /// where neither is known.
  [[nodiscard]] std::string address_of(const TaskInfo& which) const;

 private:
  /// What the resolver has found out about this process.
  [[nodiscard]] virtual TaskInfo found() const = 0;
  /// What master() gives. By default address_of(which).
  [[nodiscard]] virtual std::string find_master(const TaskInfo& which) const;

  TaskInfo said_;
};

}  // namespace chorus
