// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace chorus {

/// A thread for each replica but the first, which is whoever calls. They sleep between runs.
class ReplicaThreads {
 public:
  /// Replica r runs on `devices[r]`; what `devices` views outlives this. Throws   Error{transport} where the system
  /// starts no more threads.
  explicit ReplicaThreads(std::span<const Device> devices);
  ReplicaThreads(const ReplicaThreads&) = delete;
  ReplicaThreads& operator=(const ReplicaThreads&) = delete;
  ~ReplicaThreads();

  /// Calls `body(replica)`, which must not throw, on every replica; returns when all have returned.
  void run(const std::function<void(int)>& body);

 private:
  void serve(int replica);
  void start_run();
  void end_threads();

  std::span<const Device> devices_;
  const std::function<void(int)>* body_ = nullptr;  // null: the threads shall end
  std::atomic<std::uint32_t> runs_{0};              // started so far
  std::atomic<std::uint32_t> working_{0};           // threads that have not returned
  std::vector<std::thread> threads_;
};

}  // namespace chorus
