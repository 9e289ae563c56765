// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/cluster_resolver.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace chorus {

/// The clusters of several resolvers as one. This process, the master and the accelerators are those of the first.
class CHORUS_API UnionResolver final : public ClusterResolver {
 public:
  /// Throws   Error{invalid_argument} where there is no resolver, or one is null.
  explicit UnionResolver(std::vector<std::shared_ptr<const ClusterResolver>> resolvers, TaskInfo said = {});

  /// Jobs of the same name are joined: one after another, in the order of the resolvers. Where one of them has gaps
  /// between its indices, every task keeps its index instead; a map of the indices 0, 1, ... is a list.
  /// Throws   Error{invalid_argument} where two tasks of such a job have the same index.
  [[nodiscard]] ClusterSpec cluster_spec() const override;
  [[nodiscard]] std::optional<int> num_accelerators() const override;

 private:
  [[nodiscard]] TaskInfo found() const override;
  [[nodiscard]] std::string find_master(const TaskInfo& which) const override;

  std::vector<std::shared_ptr<const ClusterResolver>> resolvers_;
};

}  // namespace chorus
