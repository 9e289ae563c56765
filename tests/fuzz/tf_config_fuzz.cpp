// SPDX-License-Identifier: Apache-2.0
// TF_CONFIG. Whatever stands there, it is rejected, or the cluster can be asked.
#include "fuzz.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/tf_config_cluster_resolver.hpp>
#include <chorus/strategies/worker_roles.hpp>

#include <string>

namespace {

using chorus::ErrorCode;
using chorus::fuzz::require;

/// The questions of a strategy, which may be refused.
template <class Ask>
void may_be_refused(Ask ask) {
  try {
    static_cast<void>(ask());
  } catch (const chorus::Error& error) {
    require(error.code() == ErrorCode::invalid_argument, error.what());
  }
}

void look_at(const std::string& text) {
  const chorus::TFConfigClusterResolver resolver({}, [&](const std::string&) { return text; });
  const chorus::ClusterSpec cluster = resolver.cluster_spec();
  for (const std::string& job : cluster.jobs()) {
    for (const int index : cluster.task_indices(job)) {
      require(index >= 0 && !cluster.task_address(job, index).empty(), "a task that cannot be");
    }
  }
  require(resolver.task_id().value_or(0) >= 0, "an index below 0");
  may_be_refused([&] { return resolver.master(); });
  may_be_refused([&] { return is_chief(resolver); });
  may_be_refused([&] {
    const int id = id_in_cluster(resolver), count = worker_count(resolver);
    require(id >= 0 && count >= 1, "a worker that cannot be");
    return id;
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    look_at(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const chorus::Error& error) {
    require(error.code() == ErrorCode::invalid_environment, error.what());
  }
  return 0;
}
