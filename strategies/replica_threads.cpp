// SPDX-License-Identifier: Apache-2.0
#include "replica_threads.hpp"

#include "replica_binding.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <system_error>

namespace chorus {
namespace {

/// Waits until `value` is no longer `old`. Another replica may be about to change it, so it is polled for a moment
/// before the thread sleeps: waking takes longer.
void await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
  constexpr int polls = 100;
  for (int i = 0; i < polls; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    std::this_thread::yield();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ReplicaThreads::ReplicaThreads(std::span<const Device> devices) : devices_(devices) {
  try {
    for (std::size_t replica = 1; replica < devices.size(); ++replica) {
      threads_.emplace_back([this, replica] { serve(static_cast<int>(replica)); });
    }
  } catch (const std::system_error& error) {
    const std::size_t replica = threads_.size() + 1;
    end_threads();  // before they are destroyed
    throw Error(
        ErrorCode::transport,
        fmt::format("strategy: the system starts no thread for replica {} of {} of this process ({}): take fewer "
                    "devices, or raise the limits of threads (ulimit -u) and memory (ulimit -v)",
                    replica, devices.size(), error.code().message()));
  }
}

ReplicaThreads::~ReplicaThreads() { end_threads(); }

void ReplicaThreads::end_threads() {
  body_ = nullptr;
  start_run();
  for (std::thread& thread : threads_) thread.join();
}

void ReplicaThreads::start_run() {
  working_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
  runs_.fetch_add(1, std::memory_order_release);
  runs_.notify_all();
}

void ReplicaThreads::run(const std::function<void(int)>& body) {
  const bool is_bound_by_launcher = threads_.empty() && devices_[0].kind() != Device::Kind::gpu;
  if (is_bound_by_launcher) {
    body(0);
    return;
  }
  const ReplicaBinding binding(devices_[0]);
  body_ = &body;
  start_run();
  body(0);
  while (const std::uint32_t working = working_.load(std::memory_order_acquire)) await_change(working_, working);
}

void ReplicaThreads::serve(int replica) {
  const ReplicaBinding binding(devices_[static_cast<std::size_t>(replica)]);
  for (std::uint32_t served = 0;; ++served) {
    await_change(runs_, served);
    if (body_ == nullptr) return;
    (*body_)(replica);
    working_.fetch_sub(1, std::memory_order_release);
    working_.notify_one();
  }
}

}  // namespace chorus
