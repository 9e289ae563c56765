// SPDX-License-Identifier: Apache-2.0
#include "transport/process_copy.hpp"

#include <sys/uio.h>

#include <cerrno>
#include <random>

namespace chorus {
namespace {

using Copy = decltype(&process_vm_readv);

/// `copy` of all of it, in as many calls as the system makes of it.
bool copy_all(Copy copy, std::int32_t pid, const std::byte* here, const std::byte* there, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const iovec own{const_cast<std::byte*>(here), bytes};
    const iovec remote{const_cast<std::byte*>(there), bytes};
    const ssize_t copied = copy(pid, &own, 1, &remote, 1, 0);
    if (copied <= 0) return false;
    const auto done = static_cast<std::size_t>(copied);
    here += done;
    there += done;
    bytes -= done;
  }
  return true;
}

}  // namespace

MemoryProbe memory_probe() noexcept {
  static const std::uint64_t word = std::uint64_t{std::random_device()()} << 32U | std::random_device()();
  return {reinterpret_cast<std::uint64_t>(&word), word};
}

bool can_reach(std::int32_t pid, const MemoryProbe& probe) noexcept {
  std::uint64_t word = ~probe.word;
  auto* const there = reinterpret_cast<std::byte*>(probe.address);
  return read_process(pid, writable_bytes_of(word).data(), there, sizeof word) && word == probe.word &&
         write_process(pid, there, bytes_of(word));
}

bool has_ended(std::int32_t pid) noexcept {
  std::byte nothing{};
  const iovec own{&nothing, sizeof nothing};
  const iovec no_memory{nullptr, sizeof nothing};  // in a process that runs it is the address that is wrong
  return process_vm_readv(pid, &own, 1, &no_memory, 1, 0) < 0 && errno == ESRCH;
}

bool read_process(std::int32_t pid, std::byte* out, const std::byte* there, std::size_t bytes) noexcept {
  return copy_all(process_vm_readv, pid, out, there, bytes);
}

bool write_process(std::int32_t pid, std::byte* there, ConstBytes data) noexcept {
  return copy_all(process_vm_writev, pid, data.data(), there, data.size());
}

}  // namespace chorus
