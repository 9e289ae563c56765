// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device_span.hpp>

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

// Streams and memory of devices.
namespace chorus::test {

/// Throws std::runtime_error unless it is success.
void check(CUresult result);

/// Makes a device the calling thread's; its context stays as long as the process.
void take_device(int number);

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

/// What is put into `stream` after it waits so long.
void put_pause(CUstream stream, std::chrono::milliseconds duration);

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
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }
  /// What is in it; nothing may be writing there.
  [[nodiscard]] std::vector<std::byte> content() const;

 private:
  std::size_t bytes_;
  std::byte* data_ = nullptr;
};
/// The elements of device memory.
template <class T>
[[nodiscard]] std::vector<T> elements(const DeviceMemory& memory) {
  const std::vector<std::byte> content = memory.content();
  const auto* const begin = reinterpret_cast<const T*>(content.data());
  return {begin, begin + content.size() / sizeof(T)};
}
template <class T>
[[nodiscard]] std::span<const std::byte> bytes_of_all(const std::vector<T>& elements) noexcept {
  return std::as_bytes(std::span(elements));
}

}  // namespace chorus::test
