// SPDX-License-Identifier: Apache-2.0
#include "transport/process_reading.hpp"

#include <sys/uio.h>

#include <random>

namespace chorus {
namespace {

ssize_t read_some(std::int32_t pid, void* out, const void* there, std::size_t bytes) noexcept {
  const iovec here{out, bytes};
  const iovec remote{const_cast<void*>(there), bytes};
  return process_vm_readv(pid, &here, 1, &remote, 1, 0);
}

}  // namespace

ReadingProbe reading_probe() noexcept {
  static const std::uint64_t word = std::uint64_t{std::random_device()()} << 32U | std::random_device()();
  return {reinterpret_cast<std::uint64_t>(&word), word};
}

bool can_read(std::int32_t pid, const ReadingProbe& probe) noexcept {
  std::uint64_t word = ~probe.word;
  return read_some(pid, &word, reinterpret_cast<const void*>(probe.address), sizeof word) == sizeof word &&
         word == probe.word;
}

bool read_process(std::int32_t pid, std::byte* out, const std::byte* there, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const ssize_t read = read_some(pid, out, there, bytes);
    if (read <= 0) return false;
    const auto done = static_cast<std::size_t>(read);
    out += done;
    there += done;
    bytes -= done;
  }
  return true;
}

}  // namespace chorus
