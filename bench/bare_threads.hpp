// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>

#include <barrier>
#include <span>
#include <thread>
#include <vector>

namespace chorus::bench {

/// What a run of replicas cannot do without: a thread for each, of which the caller is the first, woken at the
/// beginning and awaited at the end by a barrier.
class BareThreads {
 public:
  /// One on each of `devices`, one or more.
  explicit BareThreads(std::span<const Device> devices);
  BareThreads(const BareThreads&) = delete;
  BareThreads& operator=(const BareThreads&) = delete;
  ~BareThreads();

  void run();

 private:
  void serve(const Device& device);

  std::barrier<> barrier_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace chorus::bench
