// SPDX-License-Identifier: Apache-2.0
#include "cuda_call.hpp"
#include "memory.hpp"
#include "shared.hpp"
#include "streams.hpp"

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

// cuMemcpy... and cuMemset...
namespace {

using namespace chorus::test::doubles;

/// Rows of bytes: one, or `height` with a pitch.
struct Area {
  std::uintptr_t address = 0;
  std::size_t pitch = 0;
  Place place = Place::any;
};

struct Copy {
  std::string function;
  Area to;
  Area from;
  std::size_t width = 0;
  std::size_t height = 1;
};

/// From the first byte to the last.
std::size_t extent(const Area& area, const Copy& copy) { return area.pitch * (copy.height - 1) + copy.width; }

struct Ends {
  Bytes to;
  Bytes from;
};

bool find_ends(const Copy& copy, Ends& ends) {
  return find_bytes(copy.function, copy.to.address, extent(copy.to, copy), copy.to.place, ends.to) &&
         find_bytes(copy.function, copy.from.address, extent(copy.from, copy), copy.from.place, ends.from);
}

void carry_out(const Copy& copy, const Ends& ends, Lock& lock) {
  const bool by_host = copy.to.place == Place::host || copy.from.place == Place::host;
  const auto delay = by_host ? settings().copy_delay : std::chrono::microseconds(0);
  lock.unlock();
  std::this_thread::sleep_for(delay);
  for (std::size_t row = 0; row < copy.height; ++row) {
    std::memmove(ends.to.data + row * copy.to.pitch, ends.from.data + row * copy.from.pitch, copy.width);
  }
  lock.lock();
}

/// The work of a copy. Its memory is looked for each time: what was captured may have been freed since.
Work work_of(const Copy& copy) {
  Ends ends;
  if (!find_ends(copy, ends)) return [](Lock&) {};
  return [copy, ends](Lock& lock) { carry_out(copy, ends, lock); };
}

CUresult enqueue_copy(const Copy& copy, CUstream stream) {
  const std::size_t bytes = copy.width * copy.height;
  return cuda_call({.function = copy.function, .stream = stream, .bytes = bytes}, Needs::context, [&](Lock&) {
    std::shared_ptr<Stream> found;
    const CUresult result = find_stream(copy.function, stream, StreamUse::work, found);
    if (result != CUDA_SUCCESS || bytes == 0) return result;
    Ends ends;
    if (!find_ends(copy, ends)) return CUDA_ERROR_INVALID_VALUE;
    enqueue(found, [copy] { return work_of(copy); });
    return CUDA_SUCCESS;
  });
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// One side of a CUDA_MEMCPY2D.
struct Side {
  std::size_t x;
  std::size_t y;
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  std::size_t pitch;
};

bool area_of(const Side& side, const CUDA_MEMCPY2D& copy, Area& area) {
  const bool host = side.type == CU_MEMORYTYPE_HOST;
  if (!host && side.type != CU_MEMORYTYPE_DEVICE && side.type != CU_MEMORYTYPE_UNIFIED) return false;
  if (copy.Height > 1 && side.pitch < copy.WidthInBytes + side.x) return false;
  const auto places = side.type == CU_MEMORYTYPE_DEVICE ? Place::device : host ? Place::host : Place::any;
  const std::uintptr_t base = host ? number(side.host) : std::uintptr_t{side.device};
  area = {.address = base + side.y * side.pitch + side.x, .pitch = side.pitch, .place = places};
  return true;
}

}  // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  const CUresult result = cuMemcpyAsync(to, from, bytes, nullptr);
  return result == CUDA_SUCCESS ? cuStreamSynchronize(nullptr) : result;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return enqueue_copy({.function = "cuMemcpyAsync", .to = {.address = to}, .from = {.address = from}, .width = bytes},
                      stream);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return enqueue_copy({.function = "cuMemcpyHtoDAsync",
                       .to = {.address = to, .place = Place::device},
                       .from = {.address = number(from), .place = Place::host},
                       .width = bytes},
                      stream);
}

CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return enqueue_copy({.function = "cuMemcpyDtoHAsync",
                       .to = {.address = number(to), .place = Place::host},
                       .from = {.address = from, .place = Place::device},
                       .width = bytes},
                      stream);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return enqueue_copy({.function = "cuMemcpyDtoDAsync",
                       .to = {.address = to, .place = Place::device},
                       .from = {.address = from, .place = Place::device},
                       .width = bytes},
                      stream);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Copy rows{.function = "cuMemcpy2DAsync", .to = {}, .from = {}, .width = copy->WidthInBytes, .height = copy->Height};
  const Side to{copy->dstXInBytes, copy->dstY, copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstPitch};
  const Side from{copy->srcXInBytes, copy->srcY, copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcPitch};
  if (!area_of(to, *copy, rows.to) || !area_of(from, *copy, rows.from)) return CUDA_ERROR_INVALID_VALUE;
  return enqueue_copy(rows, stream);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  const auto function = "cuMemsetD8Async";
  return cuda_call({.function = function, .stream = stream, .bytes = bytes}, Needs::context, [&](Lock&) {
    std::shared_ptr<Stream> found;
    const CUresult result = find_stream(function, stream, StreamUse::work, found);
    if (result != CUDA_SUCCESS || bytes == 0) return result;
    if (found->context != current_context()) {
      record_fault("cuMemsetD8Async on a stream of another device than the current one");
      return CUDA_ERROR_INVALID_HANDLE;
    }
    Bytes there;
    if (!find_bytes(function, to, bytes, Place::any, there) || there.allocation == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    enqueue(found, [=]() -> Work {
      Bytes now;
      if (!find_bytes(function, to, bytes, Place::any, now)) return [](Lock&) {};
      return [=](Lock&) { std::memset(now.data, value, bytes); };
    });
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
