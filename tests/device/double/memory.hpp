// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// What cuMemAlloc and cuMemHostAlloc have given, and where its bytes really lie. All under the lock.
namespace chorus::test::doubles {

struct Allocation {
  std::uintptr_t address = 0;  ///< as CUDA gives it
  std::size_t bytes = 0;
  bool on_host = false;
  CUcontext context = nullptr;
  int device = -1;
  unsigned long long number = 0;
  std::byte* data = nullptr;                       ///< pinned memory: at `address`
  bool pooled = false;                             ///< from cuMemAllocAsync
  std::shared_ptr<Allocation> original = nullptr;  ///< of one that another process has opened: whose bytes these are

  Allocation() = default;
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation();

  [[nodiscard]] bool has(std::uintptr_t first, std::size_t length) const {
    return first >= address && first - address <= bytes && length <= bytes - (first - address);
  }
};

/// The allocation that holds `address`, or null.
[[nodiscard]] std::shared_ptr<Allocation> allocation_at(std::uintptr_t address);

/// Gives the memory of `original` another address, for the current context, until `unmap`.
[[nodiscard]] std::uintptr_t map(const std::shared_ptr<Allocation>& original);
/// False where nothing is mapped at `address`.
[[nodiscard]] bool unmap(std::uintptr_t address);

/// Bytes that an operation reads or writes. Whoever has it keeps them, though not from being freed.
struct Bytes {
  std::byte* data = nullptr;
  std::shared_ptr<Allocation> allocation = nullptr;  ///< null: ordinary memory of the host
};

enum class Place : std::uint8_t { device, host, any };
/// Finds `length` bytes at `address`, which are at `place`. Otherwise records what is wrong, for `function`, and says
/// false.
[[nodiscard]] bool find_bytes(const std::string& function, std::uintptr_t address, std::size_t length, Place place,
                              Bytes& found);

}  // namespace chorus::test::doubles
