// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/split.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace chorus {
namespace {

void check_replicas(const char* function, int replicas) {
  if (replicas >= 1) return;
  throw Error(ErrorCode::invalid_argument, std::string(function) + ": replicas is " + std::to_string(replicas) +
                                               ": a batch is split among one or more");
}

double checked_sum(std::span<const double> weights) {
  double sum = 0;
  for (std::size_t replica = 0; replica < weights.size(); ++replica) {
    if (!std::isfinite(weights[replica]) || weights[replica] < 0) {
      throw Error(ErrorCode::invalid_argument, "split_batch: weights[" + std::to_string(replica) + "] is " +
                                                   std::to_string(weights[replica]) +
                                                   ": give finite numbers of 0 or more");
    }
    sum += weights[replica];
  }
  if (std::isfinite(sum) && sum > 0) return sum;
  throw Error(ErrorCode::invalid_argument,
              "split_batch: the weights add up to " + std::to_string(sum) + ": one of them must be above 0");
}

}  // namespace

std::vector<std::size_t> split_batch(std::size_t rows, int replicas) {
  check_replicas("split_batch", replicas);
  const auto parts = static_cast<std::size_t>(replicas);
  std::vector<std::size_t> sizes(parts, rows / parts);
  for (std::size_t replica = 0; replica < rows % parts; ++replica) ++sizes[replica];
  return sizes;
}

std::vector<std::size_t> split_batch(std::size_t rows, std::span<const double> weights) {
  const double sum = checked_sum(weights);
  std::vector<std::size_t> sizes;
  std::vector<double> lost;
  std::size_t left = rows;
  for (const double weight : weights) {
    const double share = static_cast<double>(rows) * (weight / sum);
    // Rounding may push the last of the shares over what is left.
    sizes.push_back(std::min(static_cast<std::size_t>(share), left));
    lost.push_back(share - std::floor(share));
    left -= sizes.back();
  }
  std::vector<std::size_t> by_loss;
  for (std::size_t replica = 0; replica < weights.size(); ++replica) {
    if (weights[replica] > 0) by_loss.push_back(replica);
  }
  std::ranges::stable_sort(by_loss, [&](std::size_t a, std::size_t b) { return lost[a] > lost[b]; });
  for (std::size_t i = 0; left > 0; ++i, --left) ++sizes[by_loss[i % by_loss.size()]];
  return sizes;
}

std::vector<std::size_t> batch_sizes(std::size_t global_rows, const ReplicaLayout& layout) {
  if (layout.worker < 0 || layout.worker >= layout.workers || layout.local_replicas < 1) {
    throw Error(ErrorCode::invalid_argument, "batch_sizes: worker " + std::to_string(layout.worker) + " of " +
                                                 std::to_string(layout.workers) + " with " +
                                                 std::to_string(layout.local_replicas) +
                                                 " replicas: give one from 0 to workers - 1 with 1 or more");
  }
  std::vector<std::size_t> sizes = split_batch(global_rows, layout.replicas());
  std::rotate(sizes.begin(), sizes.begin() + layout.first_replica(), sizes.end());
  return sizes;
}

std::vector<std::size_t> legacy_split(std::size_t rows, int replicas) {
  check_replicas("legacy_split", replicas);
  const auto parts = static_cast<std::size_t>(replicas);
  const std::size_t slice = rows / parts + (rows % parts == 0 ? 0 : 1);
  std::vector<std::size_t> sizes;
  for (std::size_t left = rows; sizes.size() < parts; left -= sizes.back()) sizes.push_back(std::min(slice, left));
  return sizes;
}

std::vector<std::string> shard_files(const std::vector<std::string>& files, int workers, int worker) {
  if (workers < 1 || worker < 0 || worker >= workers) {
    throw Error(ErrorCode::invalid_argument, "shard_files: worker " + std::to_string(worker) + " of " +
                                                 std::to_string(workers) + ": give one from 0 to workers - 1");
  }
  const auto step = static_cast<std::size_t>(workers);
  if (files.size() < step) {
    throw Error(ErrorCode::invalid_argument, "shard_files: there are fewer files than workers, " +
                                                 std::to_string(files.size()) + " < " + std::to_string(workers) +
                                                 ": divide the data into more files, or choose AutoShardPolicy::data "
                                                 "or AutoShardPolicy::off");
  }
  std::vector<std::string> own;
  for (auto i = static_cast<std::size_t>(worker); i < files.size(); i += step) own.push_back(files[i]);
  return own;
}

}  // namespace chorus
