// SPDX-License-Identifier: Apache-2.0
#include <chorus/device.hpp>

#include "topology/devices.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>
#include <sched.h>

#include <cerrno>
#include <cstring>

namespace chorus {
namespace {

constexpr std::size_t bits = 8 * sizeof(unsigned long);
constexpr std::size_t largest_mask = 8192 / bits;  // the kernel refuses one that is shorter than its own

using Mask = std::vector<unsigned long>;

cpu_set_t* set_of(Mask& mask) noexcept { return reinterpret_cast<cpu_set_t*>(mask.data()); }
std::size_t bytes_of(const Mask& mask) noexcept { return mask.size() * sizeof(unsigned long); }

/// Of the calling thread.
Mask current_mask() {
  Mask mask(largest_mask);
  if (sched_getaffinity(0, bytes_of(mask), set_of(mask)) == 0) return mask;
  throw Error(
      ErrorCode::transport,
      fmt::format("ThreadBinding: the system does not tell where this thread may run ({})", std::strerror(errno)));
}

Mask mask_of(const Device& device) {
  Mask mask(largest_mask);
  for (const int pu : device.pus()) {
    const auto at = static_cast<std::size_t>(pu);
    if (at / bits >= mask.size()) mask.resize(at / bits + 1);
    mask[at / bits] |= 1UL << at % bits;
  }
  return mask;
}

}  // namespace

ThreadBinding::ThreadBinding(const Device& device) : before_(current_mask()) {
  Mask wanted = mask_of(device);
  const bool set = wanted.size() == largest_mask && sched_setaffinity(0, bytes_of(wanted), set_of(wanted)) == 0;
  if (set && current_mask() == wanted) return;  // the system leaves out what is not allowed, without a word
  if (set) sched_setaffinity(0, bytes_of(before_), set_of(before_));
  throw Error(ErrorCode::invalid_argument,
              fmt::format("ThreadBinding: argument device is {} with PUs {}, not all of which this thread may run on; "
                          "take one of local_devices()",
                          device.name(), listed(device.pus())));
}

ThreadBinding::~ThreadBinding() { sched_setaffinity(0, bytes_of(before_), set_of(before_)); }

}  // namespace chorus
