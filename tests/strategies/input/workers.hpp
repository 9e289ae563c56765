// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/strategies/distributed_dataset.hpp>
#include <chorus/thread_communicators.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

namespace chorus::test {

/// What body(layout, communicator) returns on each worker. The workers are threads of this process, and a single one
/// has no communicator. Throws what the first of them threw.
template <class Body>
auto on_workers(int workers, int local_replicas, const Body& body) {
  using Result = decltype(body(ReplicaLayout(), std::optional<Communicator>()));
  static_assert(!std::is_same_v<Result, bool>, "workers would write the bits of one word");
  const std::vector<Communicator> communicators = thread_communicators(workers);
  std::vector<Result> results(communicators.size());
  std::vector<std::exception_ptr> failures(communicators.size());
  std::vector<std::thread> threads;
  for (std::size_t worker = 0; worker < communicators.size(); ++worker) {
    threads.emplace_back([&, worker] {
      try {
        std::optional<Communicator> comm;
        if (workers > 1) comm = communicators[worker];
        results[worker] = body(ReplicaLayout{workers, static_cast<int>(worker), local_replicas}, comm);
      } catch (...) {
        failures[worker] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return results;
}

/// An epoch as one worker sees it.
template <class B>
struct Epoch {
  std::vector<std::vector<B>> steps;  ///< of each step the batch of each local replica
  std::vector<std::size_t> global_sizes;
  bool operator==(const Epoch&) const = default;
};

template <class B>
Epoch<B> epoch_of(DistributedIterator<B> iterator) {
  Epoch<B> epoch;
  while (auto batch = iterator.next()) {
    const auto batches = batch->batches().values();
    std::vector<std::size_t> sizes;
    for (const B& one : batches) sizes.push_back(row_count(one));
    EXPECT_EQ(sizes, std::vector<std::size_t>(batch->local_sizes().begin(), batch->local_sizes().end()));
    epoch.steps.emplace_back(batches.begin(), batches.end());
    epoch.global_sizes.push_back(batch->global_size());
  }
  EXPECT_FALSE(iterator.next());
  return epoch;
}

/// What each worker gets of `dataset`.
template <class B>
std::vector<Epoch<B>> epochs_of(const Dataset<B>& dataset, int workers, int local_replicas,
                                const InputOptions& options = {}) {
  return on_workers(workers, local_replicas, [&](const ReplicaLayout& layout, const auto& comm) {
    return epoch_of(DistributedDataset<B>(dataset, layout, comm, options).iterate());
  });
}

/// What each worker gets of the batches that make_dataset(context) gives it.
template <class B, class Function>
std::vector<Epoch<B>> epochs_of_function(const Function& make_dataset, int workers, int local_replicas,
                                         const InputOptions& options = {}) {
  return on_workers(workers, local_replicas, [&](const ReplicaLayout& layout, const auto& comm) {
    return epoch_of(DistributedDataset<B>::from_function(make_dataset, layout, comm, options).iterate());
  });
}

}  // namespace chorus::test
