// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "collectives/prepared_call.hpp"

#include <chorus/communicator.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/options.hpp>

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

// Ranks with devices, which the doubles of CUDA and NCCL pretend: threads of this process.
namespace chorus::test {

/// Throws std::runtime_error unless it is success.
void check(CUresult result);

/// A stream of the calling thread's device.
class TestStream {
 public:
  TestStream();
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  ~TestStream();
  [[nodiscard]] CUstream native() const noexcept { return stream_; }
  [[nodiscard]] Stream get() const noexcept { return Stream(stream_); }
  void wait() const { check(cuStreamSynchronize(stream_)); }

 private:
  CUstream stream_ = nullptr;
};

/// Memory of the calling thread's device.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes);
  explicit DeviceMemory(std::span<const std::byte> content);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();
  /// As CUDA gives it; null where it is empty.
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  template <class T>
  [[nodiscard]] DeviceSpan<T> span() const noexcept {
    return {reinterpret_cast<T*>(data_), bytes_ / sizeof(T)};
  }
  /// What is in it; nothing may be writing there.
  [[nodiscard]] std::span<std::byte> content() const;

 private:
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};
/// The elements of device memory.
template <class T>
[[nodiscard]] std::vector<T> elements(const DeviceMemory& memory) {
  const auto* const begin = reinterpret_cast<const T*>(memory.content().data());
  return {begin, begin + memory.content().size() / sizeof(T)};
}
template <class T>
[[nodiscard]] std::span<const std::byte> bytes_of_all(const std::vector<T>& elements) noexcept {
  return std::as_bytes(std::span(elements));
}

/// Calls `body` with a communicator on each of `ranks` threads, whose device is the rank's own, or the first one of
/// all. Rethrows what the first rank that throws has thrown; then expects that the doubles have seen no fault, and that
/// nothing is left of what was made.
enum class Devices { own, shared };
void on_device_ranks(int ranks, Devices devices, const std::function<void(const Communicator&)>& body);

/// A rank's buffers for a call, in device memory.
class DeviceBuffers {
 public:
  DeviceBuffers(const PreparedCall& prepared, int rank);
  /// `stream` outlives the call.
  [[nodiscard]] detail::Buffers of(const Stream& stream) const;
  /// Throws std::runtime_error where the result is wrong, or anything changed that must not. The call is over.
  void check();

 private:
  const PreparedCall& prepared_;
  int rank_;
  RankBuffers host_;
  Arguments arguments_;
  DeviceMemory in_;
  DeviceMemory out_;
};

/// Makes the call through its door.
void call_door(const Communicator& comm, const Call& call, const detail::Buffers& buffers,
               const CollectiveOptions& options);

}  // namespace chorus::test
