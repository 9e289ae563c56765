// SPDX-License-Identifier: Apache-2.0
#include "device/window_memory.hpp"

#include "device/cuda.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chorus/error.hpp>

#include <atomic>
#include <list>
#include <mutex>
#include <utility>

namespace chorus {
namespace {

using Closed = std::atomic<std::uint32_t>;

Closed& closed_at(std::byte* word) noexcept { return *reinterpret_cast<Closed*>(word); }

/// A window that its owner has left, and others may still read.
struct LeftWindow {
  Segment::Lease lease;
  std::size_t ranks = 0;
  CUcontext context = nullptr;
  CUdeviceptr address = 0;
};
struct LeftWindows {
  std::mutex mutex;
  std::list<LeftWindow> list;
};
LeftWindows& left_windows() {
  static auto* const all = new LeftWindows;  // never destroyed: communicators may outlive static objects
  return *all;
}

void free_window(CUcontext context, CUdeviceptr address) noexcept {
  if (const LastContext current(context); current) cuda().mem_free(address);
}

void free_left_windows() noexcept {
  LeftWindows& all = left_windows();
  const std::scoped_lock lock(all.mutex);
  std::erase_if(all.list, [](const LeftWindow& left) {
    if (closed_at(left.lease.data()).load(std::memory_order_acquire) < left.ranks) return false;
    free_window(left.context, left.address);
    return true;
  });
}

bool same(const ProcessId& one, const ProcessId& other) noexcept {
  return one.pid == other.pid && one.start_ticks == other.start_ticks && one.pid_space == other.pid_space;
}

/// Lets the current context read the memory of another device of this process.
void enable_peer_access(int device, int peer) {
  int can = 0;
  cuda().check(cuda().device_can_access_peer(&can, device, peer), "tell whether devices reach one another");
  if (can == 0) {
    throw Error(ErrorCode::not_supported, fmt::format("device {} does not reach device {}", device, peer));
  }
  const CUresult result = cuda().ctx_enable_peer_access(context_of(peer), 0);
  if (result != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) cuda().check(result, "let a device reach another one");
}

}  // namespace

WindowMemory::WindowMemory(CUcontext context, int device, const ProcessId& process, std::size_t bytes,
                           std::size_t ranks)
    : context_(context), ranks_(ranks), process_(getpid()) {
  free_left_windows();
  const std::shared_ptr<Segment>& segment = Segment::of_this_process();
  if (segment) lease_ = Segment::lease(segment, sizeof(Closed));
  if (!lease_) throw Error(ErrorCode::not_supported, "there is no memory of the host that ranks can share by memfd");
  CUdeviceptr made = 0;
  cuda().check(cuda().mem_alloc(&made, bytes), "get memory of the device");
  own_.process = process;
  own_.address = made;
  own_.device = device;
  own_.segment = segment->address();
  own_.word = lease_.offset();
  if (const CUresult result = cuda().ipc_get_mem_handle(&own_.handle, made); result != CUDA_SUCCESS) {
    discard();
    cuda().check(result, "export memory of the device to other processes");
  }
}

WindowMemory::~WindowMemory() {
  if (process_ != getpid()) return;
  close();
  if (own_.address != 0) {
    LeftWindows& all = left_windows();
    const std::scoped_lock lock(all.mutex);
    all.list.push_back({std::move(lease_), ranks_, context_, own_.address});
  }
  free_left_windows();
}

std::byte* WindowMemory::open_one(const WindowAddress& theirs) {
  if (same(theirs.process, own_.process)) {
    if (theirs.device != own_.device) enable_peer_access(own_.device, theirs.device);
    return reinterpret_cast<std::byte*>(theirs.address);
  }
  CUdeviceptr here = 0;
  cuda().check(cuda().ipc_open_mem_handle(&here, theirs.handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
               "open another process's memory of a device");
  mapped_.push_back(reinterpret_cast<std::byte*>(here));
  return mapped_.back();
}

void WindowMemory::open(const std::vector<WindowAddress>& all) {
  for (const WindowAddress& theirs : all) {
    std::shared_ptr<Mapping> mapping = Mapping::attach(theirs.segment);
    if (!mapping) throw Error(ErrorCode::not_supported, "ranks cannot share memory of the host by memfd");
    mappings_.push_back(std::move(mapping));
    words_.push_back(theirs.word);
  }
  for (const WindowAddress& theirs : all) peers_.push_back(open_one(theirs));
}

void WindowMemory::close() noexcept {
  if (!mapped_.empty()) {
    const LastContext current(context_);
    for (std::byte* const there : mapped_) {
      if (current) cuda().ipc_close_mem_handle(address_of(there));
    }
  }
  for (std::size_t rank = 0; rank < mappings_.size(); ++rank) {
    closed_at(mappings_[rank]->base() + words_[rank]).fetch_add(1, std::memory_order_acq_rel);
  }
  mapped_.clear();
  mappings_.clear();
  peers_.clear();
}

void WindowMemory::discard() noexcept {
  if (own_.address != 0) free_window(context_, std::exchange(own_.address, 0));
  lease_ = Segment::Lease();
}

}  // namespace chorus
