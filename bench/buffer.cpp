// SPDX-License-Identifier: Apache-2.0
#include "buffer.hpp"

#include <chorus/error.hpp>
#include <chorus/memory.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

namespace chorus::bench {
namespace {

std::unique_ptr<DeviceBuffer> on_device(std::size_t bytes) try {
  return std::make_unique<DeviceBuffer>(bytes);
} catch (const Error& error) {
  throw std::runtime_error(fmt::format("-m: no memory of the device for a buffer of {} bytes; give a smaller MAX ({})",
                                       bytes, error.message()));
}

}  // namespace

Buffer::Buffer(std::size_t count, Memory memory) : host_(nullptr, Free{memory == Memory::registered}) {
  constexpr std::size_t page = 4096;
  const std::size_t bytes = (count * sizeof(float) + page) / page * page;
  if (memory == Memory::device) {
    device_ = on_device(bytes);
    return;
  }
  try {
    const bool registered = memory == Memory::registered;
    host_.reset(static_cast<float*>(registered ? chorus::allocate(bytes) : std::aligned_alloc(page, bytes)));
  } catch (const std::bad_alloc&) {
    host_.reset();
  }
  if (!host_) {
    throw std::runtime_error(fmt::format("-m: no memory for a buffer of {} bytes; give a smaller MAX", bytes));
  }
}

void Buffer::Free::operator()(float* data) const { registered ? chorus::deallocate(data) : std::free(data); }

}  // namespace chorus::bench
