// SPDX-License-Identifier: Apache-2.0
#include "shared.hpp"

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace chorus::test::doubles {
namespace {

int number(const char* variable, int otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? otherwise : std::stoi(value);
}

std::vector<void (*)()>& clearers() {
  static auto& all = *new std::vector<void (*)()>;
  return all;
}

}  // namespace

// Nothing here is ever destroyed: the threads of streams run until the process ends.
std::mutex& guard() noexcept {
  static auto& mutex = *new std::mutex;
  return mutex;
}

std::condition_variable& changed() noexcept {
  static auto& condition = *new std::condition_variable;
  return condition;
}

Settings& settings() {
  static auto& all = *[] {
    auto* const made = new Settings;
    made->devices = number("DEVICE_DOUBLE_DEVICES", 8);
    made->delay = std::chrono::microseconds(number("DEVICE_DOUBLE_DELAY_US", 200));
    made->driver_version = CUDA_VERSION;
    return made;
  }();
  return all;
}

std::vector<int> visible_devices() {
  std::vector<int> devices(static_cast<std::size_t>(settings().devices));
  std::iota(devices.begin(), devices.end(), 0);
  const char* const named = std::getenv("CUDA_VISIBLE_DEVICES");
  if (named == nullptr) return devices;
  std::vector<int> visible;
  std::istringstream list(named);
  for (std::string entry; std::getline(list, entry, ',');) {
    const bool number = !entry.empty() && std::ranges::all_of(entry, [](char one) { return one >= '0' && one <= '9'; });
    if (!number || std::stoi(entry) >= settings().devices) break;
    visible.push_back(std::stoi(entry));
  }
  return visible;
}

void restore_settings() {
  Settings& all = settings();
  all.devices = number("DEVICE_DOUBLE_DEVICES", 8);
  all.delay = std::chrono::microseconds(number("DEVICE_DOUBLE_DELAY_US", 200));
  all.driver_version = CUDA_VERSION;
  all.peer_access = true;
  all.slow_device = -1;
  all.copy_delay = {};
  ++all.era;
}

void rest(Lock& lock) {
  const auto delay = settings().delay;
  lock.unlock();
  if (delay.count() > 0) std::this_thread::sleep_for(delay);
  lock.lock();
}

void* new_handle() noexcept {
  // Nothing is ever mapped there: these are no addresses of x86-64 or Arm.
  static std::uintptr_t last = std::uintptr_t{0xD0} << 56;
  last += 16;
  return reinterpret_cast<void*>(last);
}

void at_clear(void (*what)()) { clearers().push_back(what); }

void run_at_clear() {
  for (auto* const what : clearers()) what();
}

}  // namespace chorus::test::doubles
