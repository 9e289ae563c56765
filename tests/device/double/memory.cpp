// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include "capture.hpp"
#include "cuda_call.hpp"
#include "double.hpp"
#include "streams.hpp"

#include <fmt/format.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

// cuMemAlloc, cuMemHostAlloc and what frees.
namespace chorus::test {
namespace doubles {
namespace {

constexpr std::size_t alignment = 512;
constexpr std::size_t arena_bytes = std::size_t{64} << 30;

/// Addresses that no thread may read or write, given in order and never again.
struct Arena {
  std::uintptr_t begin = 0;
  std::uintptr_t next = 0;
  std::uintptr_t end = 0;
};

Arena& arena() {
  static auto& all = *new Arena;
  return all;
}

std::uintptr_t reserve(std::size_t bytes) {
  Arena& here = arena();
  const std::size_t room = (bytes / alignment + 2) * alignment;
  if (here.end - here.next < room) {
    if (room > arena_bytes) return 0;
    void* const fresh = mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED) return 0;
    here.begin = here.next = reinterpret_cast<std::uintptr_t>(fresh);
    here.end = here.begin + arena_bytes;
  }
  return std::exchange(here.next, here.next + room);
}

std::map<std::uintptr_t, std::shared_ptr<Allocation>>& allocations() {
  static auto& all = *new std::map<std::uintptr_t, std::shared_ptr<Allocation>>;
  return all;
}

int& count_of(const Allocation& allocation) {
  return allocation.on_host ? living().host_allocations : living().device_allocations;
}

CUresult allocate(std::size_t bytes, bool on_host, std::uintptr_t& address) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  static unsigned long long numbers = 0;
  const auto made = std::make_shared<Allocation>();
  made->data = static_cast<std::byte*>(std::aligned_alloc(alignment, (bytes / alignment + 1) * alignment));
  made->address = on_host ? reinterpret_cast<std::uintptr_t>(made->data) : reserve(bytes);
  if (made->data == nullptr || made->address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  // What nobody has written is not a number.
  std::memset(made->data, 0xFF, bytes);
  made->bytes = bytes;
  made->on_host = on_host;
  made->context = current_context();
  made->device = current_device();
  made->number = ++numbers;
  address = made->address;
  ++count_of(*made);
  allocations()[address] = made;
  return CUDA_SUCCESS;
}

bool is_mapped(const std::shared_ptr<Allocation>& original) {
  return std::ranges::any_of(allocations(), [&](const auto& other) { return other.second->original == original; });
}

CUresult free_allocation(const char* function, std::uintptr_t address, bool on_host) {
  const auto found = allocations().find(address);
  if (found == allocations().end() || found->second->on_host != on_host) {
    record_fault(fmt::format("{} of {:#x}, which is not allocated, or not any more", function, address));
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (found->second->original != nullptr) {
    record_fault(fmt::format("{} of {:#x}, which another process has allocated", function, address));
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (is_mapped(found->second)) {
    record_fault(fmt::format("{} of {:#x}, while another process has it open", function, address));
  } else if (found->second.use_count() > 1) {
    record_fault(fmt::format("{} of {:#x}, while operations that use it are enqueued", function, address));
  }
  --count_of(*found->second);
  allocations().erase(found);
  return CUDA_SUCCESS;
}

}  // namespace

Allocation::~Allocation() {
  if (original == nullptr) std::free(data);
}

std::uintptr_t map(const std::shared_ptr<Allocation>& original) {
  const auto made = std::make_shared<Allocation>();
  made->data = original->data;
  made->bytes = original->bytes;
  made->device = original->device;
  made->context = current_context();
  made->address = reserve(made->bytes);
  made->original = original;
  if (made->address != 0) allocations()[made->address] = made;
  return made->address;
}

bool unmap(std::uintptr_t address) {
  const auto found = allocations().find(address);
  if (found == allocations().end() || found->second->original == nullptr) return false;
  if (found->second.use_count() > 1) {
    record_fault(fmt::format("cuIpcCloseMemHandle of {:#x}, while operations that use it are enqueued", address));
  }
  allocations().erase(found);
  return true;
}

std::shared_ptr<Allocation> allocation_at(std::uintptr_t address) {
  auto after = allocations().upper_bound(address);
  if (after == allocations().begin()) return nullptr;
  const auto& candidate = std::prev(after)->second;
  return address - candidate->address < candidate->bytes ? candidate : nullptr;
}

bool find_bytes(const std::string& function, std::uintptr_t address, std::size_t length, Place place, Bytes& found) {
  const auto wrong = [&](const char* what) {
    record_fault(fmt::format("{}: {} bytes at {:#x} {}", function, length, address, what));
    return false;
  };
  const auto allocation = allocation_at(address);
  const bool freed = allocation == nullptr && address >= arena().begin && address < arena().end;
  if (freed) return wrong("are in no allocation of a device, or not any more");
  if (allocation == nullptr) {
    if (place == Place::device) return wrong("are ordinary host memory");
    if (address == 0 && length > 0) return wrong("are at null");
    found = {.data = reinterpret_cast<std::byte*>(address)};
    return true;
  }
  if (place == Place::device && allocation->on_host) return wrong("are pinned host memory");
  if (place == Place::host && !allocation->on_host) return wrong("are device memory");
  if (!allocation->has(address, length)) {
    return wrong(fmt::format("reach beyond the {} bytes allocated there", allocation->bytes).c_str());
  }
  found = {.data = allocation->data + (address - allocation->address), .allocation = allocation};
  return true;
}

}  // namespace doubles

std::byte* device_bytes(CUdeviceptr address) {
  const doubles::Lock lock(doubles::guard());
  const auto allocation = doubles::allocation_at(address);
  if (allocation == nullptr) throw std::invalid_argument("no allocation holds this address");
  return allocation->data + (address - allocation->address);
}

}  // namespace chorus::test

using namespace chorus::test::doubles;

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* address, std::size_t bytes) {
  return cuda_call({.function = "cuMemAlloc", .bytes = bytes}, Needs::context, [&](Lock&) {
    if (refuses_unsafe_calls()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::uintptr_t made = 0;
    const CUresult result = allocate(bytes, false, made);
    if (result == CUDA_SUCCESS) *address = made;
    return result;
  });
}

CUresult cuMemFree(CUdeviceptr address) {
  return cuda_call({.function = "cuMemFree"}, Needs::context, [&](Lock&) {
    if (refuses_unsafe_calls()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return address == 0 ? CUDA_SUCCESS : free_allocation("cuMemFree", address, false);
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return cuda_call({.function = "cuMemAllocAsync", .stream = stream, .bytes = bytes}, Needs::context, [&](Lock&) {
    std::shared_ptr<Stream> found;
    const CUresult known = find_stream("cuMemAllocAsync", stream, StreamUse::work, found);
    if (known != CUDA_SUCCESS) return known;
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::uintptr_t made = 0;
    const CUresult result = allocate(bytes, false, made);
    if (result != CUDA_SUCCESS) return result;
    allocations()[made]->pooled = true;
    *address = made;
    return result;
  });
}

// Captured, it frees nothing: the memory belongs to the graph, whose replays use it again.
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return cuda_call({.function = "cuMemFreeAsync", .stream = stream}, Needs::context, [&](Lock&) {
    std::shared_ptr<Stream> found;
    const CUresult known = find_stream("cuMemFreeAsync", stream, StreamUse::work, found);
    if (known != CUDA_SUCCESS) return known;
    const auto allocation = allocation_at(address);
    if (allocation == nullptr || allocation->address != address || allocation->on_host) {
      record_fault(fmt::format("cuMemFreeAsync of {:#x}, which is not allocated, or not any more", address));
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (found->capture != nullptr) {
      --count_of(*allocation);
    } else {
      push(found, [address](Lock&) { free_allocation("cuMemFreeAsync", address, false); });
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned int flags) {
  return cuda_call({.function = "cuMemHostAlloc", .bytes = bytes}, Needs::context, [&](Lock&) {
    constexpr unsigned int all = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (refuses_unsafe_calls()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (address == nullptr || (flags & ~all) != 0) return CUDA_ERROR_INVALID_VALUE;
    std::uintptr_t made = 0;
    const CUresult result = allocate(bytes, true, made);
    if (result == CUDA_SUCCESS) *address = reinterpret_cast<void*>(made);
    return result;
  });
}

CUresult cuMemFreeHost(void* address) {
  return cuda_call({.function = "cuMemFreeHost"}, Needs::context, [&](Lock&) {
    if (refuses_unsafe_calls()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return free_allocation("cuMemFreeHost", reinterpret_cast<std::uintptr_t>(address), true);
  });
}

}  // extern "C"
