// SPDX-License-Identifier: Apache-2.0
#include "bare_threads.hpp"

namespace chorus::bench {

BareThreads::BareThreads(std::span<const Device> devices) : barrier_(static_cast<std::ptrdiff_t>(devices.size())) {
  for (const Device& device : devices.subspan(1)) threads_.emplace_back([this, &device] { serve(device); });
}

BareThreads::~BareThreads() {
  ended_ = true;
  barrier_.arrive_and_wait();
  for (std::thread& thread : threads_) thread.join();
}

void BareThreads::run() {
  barrier_.arrive_and_wait();
  barrier_.arrive_and_wait();
}

void BareThreads::serve(const Device& device) {
  const ThreadBinding binding(device);
  for (;;) {
    barrier_.arrive_and_wait();
    if (ended_) return;
    barrier_.arrive_and_wait();
  }
}

}  // namespace chorus::bench
