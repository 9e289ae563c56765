// SPDX-License-Identifier: Apache-2.0
#include "base/machine.hpp"
#include "device/accelerator.hpp"
#include "device/cuda.hpp"

#include <array>
#include <cstdint>
#include <limits>

namespace chorus {
namespace {

/// The driver refuses longer ones (CU_DEVICE_ATTRIBUTE_MAX_PITCH).
constexpr std::size_t longest_pitch = std::numeric_limits<std::int32_t>::max();

/// Written as two rows, which take no turn on a device that processes share.
bool goes_as_two(const Accelerator::Rows& rows) noexcept {
  return rows.count == 1 && rows.bytes > 0 && rows.bytes < machine::written_by_cores_below && rows.bytes % 2 == 0;
}

class CudaAccelerator final : public Accelerator {
 public:
  explicit CudaAccelerator(int device) : CudaAccelerator(device, context_of(device)) {
    const CurrentContext current(context_);
    constexpr unsigned without_timing = CU_EVENT_DISABLE_TIMING;
    cuda_.check(cuda_.event_create(&before_, without_timing), "make an event");
    for (Lane& lane : lanes_) {
      cuda_.check(cuda_.stream_create(&lane.stream, CU_STREAM_NON_BLOCKING), "make a stream");
      for (CUevent& over : lane.over) cuda_.check(cuda_.event_create(&over, without_timing), "make an event");
    }
  }

  ~CudaAccelerator() override {
    const LastContext current(context_);
    if (!current) return;
    for (const Lane& lane : lanes_) {
      for (CUevent_st* const over : lane.over) destroy(over);
      if (lane.stream == nullptr) continue;
      cuda_.stream_synchronize(lane.stream);  // it may still use the pinned memory
      cuda_.stream_destroy(lane.stream);
    }
    destroy(before_);
    if (!pinned_.empty()) cuda_.mem_free_host(pinned_.data());
  }

  [[nodiscard]] int device() const noexcept override { return device_; }

  [[nodiscard]] Bytes pinned(std::size_t bytes) override {
    if (bytes <= pinned_.size()) return pinned_;
    const CurrentContext current(context_);
    void* memory = nullptr;
    cuda_.check(cuda_.mem_host_alloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE), "get pinned memory");
    if (!pinned_.empty()) cuda_.mem_free_host(pinned_.data());
    pinned_ = {static_cast<std::byte*>(memory), bytes};
    return pinned_;
  }

  void come_after(void* stream) override {
    const CurrentContext current(context_);
    cuda_.check(cuda_.event_record(before_, stream_of(stream)), "record an event");
    for (const Lane& lane : lanes_) {
      cuda_.check(cuda_.stream_wait_event(lane.stream, before_, CU_EVENT_WAIT_DEFAULT), "wait for an event");
    }
  }

  void go_before(void* stream) noexcept override {
    const LastContext current(context_);
    if (!current) return;
    for (const Lane& lane : lanes_) {
      if (cuda_.event_record(before_, lane.stream) != CUDA_SUCCESS) continue;
      cuda_.stream_wait_event(stream_of(stream), before_, CU_EVENT_WAIT_DEFAULT);
    }
  }

  void copy(Way way, int half, std::byte* host, std::byte* device, const Rows& rows) override {
    const CurrentContext current(context_);
    const Lane& lane = lanes_[static_cast<std::size_t>(way)];
    if (rows.count > 1 && rows.distance <= longest_pitch) {
      copy_at_once(way, host, device, rows, lane.stream);
    } else if (way == Way::to_device && goes_as_two(rows)) {
      copy_at_once(way, host, device, {.count = 2, .bytes = rows.bytes / 2, .distance = rows.bytes / 2}, lane.stream);
    } else {
      for (std::size_t row = 0; row < rows.count; ++row) {
        copy_row(way, host + row * rows.bytes, device + row * rows.distance, rows.bytes, lane.stream);
      }
    }
    cuda_.check(cuda_.event_record(lane.over[static_cast<std::size_t>(half)], lane.stream), "record an event");
  }

  [[nodiscard]] bool is_over(Way way, int half) override {
    const CurrentContext current(context_);
    return cuda_.is_over(cuda_.event_query(lanes_[static_cast<std::size_t>(way)].over[static_cast<std::size_t>(half)]));
  }

  [[nodiscard]] bool is_done(void* stream) override {
    const CurrentContext current(context_);
    return cuda_.is_over(cuda_.stream_query(stream_of(stream)));
  }

  [[nodiscard]] bool is_captured(void* stream) override {
    const CurrentContext current(context_);
    return cuda_.is_captured(stream_of(stream));
  }

 private:
  /// A stream for one way, and what tells that its copies are over.
  struct Lane {
    CUstream stream = nullptr;
    std::array<CUevent, halves> over{};
  };

  /// Has nothing yet, so that what the other constructor makes is destroyed where it throws.
  CudaAccelerator(int device, CUcontext context) noexcept : device_(device), context_(context) {}

  void destroy(CUevent event) const noexcept {
    if (event != nullptr) cuda_.event_destroy(event);
  }

  void copy_at_once(Way way, std::byte* host, std::byte* device, const Rows& rows, CUstream stream) const {
    CUDA_MEMCPY2D copy{};
    const bool from_device = way == Way::to_host;
    copy.srcMemoryType = from_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    copy.dstMemoryType = from_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    (from_device ? copy.srcDevice : copy.dstDevice) = address_of(device);
    (from_device ? copy.srcPitch : copy.dstPitch) = rows.distance;
    (from_device ? copy.dstPitch : copy.srcPitch) = rows.bytes;
    if (from_device) {
      copy.dstHost = host;
    } else {
      copy.srcHost = host;
    }
    copy.WidthInBytes = rows.bytes;
    copy.Height = rows.count;
    cuda_.check(cuda_.memcpy_2d_async(&copy, stream), "copy to or from the device");
  }

  void copy_row(Way way, std::byte* host, std::byte* device, std::size_t bytes, CUstream stream) const {
    const CUresult result = way == Way::to_host
                                ? cuda_.memcpy_device_to_host_async(host, address_of(device), bytes, stream)
                                : cuda_.memcpy_host_to_device_async(address_of(device), host, bytes, stream);
    cuda_.check(result, "copy to or from the device");
  }

  const Cuda& cuda_ = cuda();
  int device_;
  CUcontext context_;
  std::array<Lane, 2> lanes_;
  CUevent before_ = nullptr;
  Bytes pinned_;
};

}  // namespace

std::unique_ptr<Accelerator> Accelerator::of(int device) { return std::make_unique<CudaAccelerator>(device); }

}  // namespace chorus
