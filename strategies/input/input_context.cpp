// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/input_options.hpp>

#include <string>

namespace chorus {

std::size_t InputContext::per_replica_batch_size(std::size_t global_batch_size) const {
  const auto replicas = static_cast<std::size_t>(num_replicas_in_sync);
  if (num_replicas_in_sync >= 1 && global_batch_size % replicas == 0) return global_batch_size / replicas;
  throw Error(ErrorCode::invalid_argument, "InputContext::per_replica_batch_size: a batch of " +
                                               std::to_string(global_batch_size) + " rows has no equal shares for " +
                                               std::to_string(num_replicas_in_sync) +
                                               " replicas: choose a multiple of their number");
}

std::string to_string(const InputContext& context) {
  return "InputContext(input pipeline id " + std::to_string(context.input_pipeline_id) +
         ", total: " + std::to_string(context.num_input_pipelines) +
         ", replicas in sync: " + std::to_string(context.num_replicas_in_sync) + ")";
}

}  // namespace chorus
