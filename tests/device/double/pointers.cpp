// SPDX-License-Identifier: Apache-2.0
#include "cuda_call.hpp"
#include "memory.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

// cuPointerGetAttribute and cuPointerGetAttributes.
namespace {

using namespace chorus::test::doubles;

template <typename T>
void give(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// Writes `attribute` of what lies in `allocation`, or of unknown memory, in the type that cuda.h names.
CUresult give_attribute(CUpointer_attribute attribute, const Allocation* allocation, CUdeviceptr address, void* to) {
  const bool known = allocation != nullptr;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      give(to, known ? allocation->context : nullptr);
      break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: {
      const CUmemorytype type = known && allocation->on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      give(to, known ? static_cast<unsigned int>(type) : 0U);
      break;
    }
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      give(to, known ? address : CUdeviceptr{0});
      break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (known && !allocation->on_host) {
        give(to, std::uintptr_t{0});
        return CUDA_ERROR_INVALID_VALUE;
      }
      give(to, known ? std::uintptr_t{address} : std::uintptr_t{0});
      break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      give(to, known ? allocation->number : 0ULL);
      break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      give(to, 0);
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      give(to, known ? allocation->device : 0);
      break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      give(to, known ? CUdeviceptr{allocation->address} : 0);
      break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      give(to, known ? allocation->bytes : std::size_t{0});
      break;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      give(to, known ? 1 : 0);
      break;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return cuda_call({.function = "cuPointerGetAttribute"}, Needs::initialized, [&](Lock&) {
    const auto allocation = allocation_at(address);
    if (data == nullptr || allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return give_attribute(attribute, allocation.get(), address, data);
  });
}

CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute* attributes, void** data, CUdeviceptr address) {
  return cuda_call({.function = "cuPointerGetAttributes"}, Needs::initialized, [&](Lock&) {
    if (count == 0 || attributes == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = allocation_at(address);
    for (unsigned int at = 0; at < count; ++at) {
      if (data[at] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      // That device memory has no host pointer is no error here.
      if (give_attribute(attributes[at], allocation.get(), address, data[at]) == CUDA_ERROR_NOT_SUPPORTED) {
        return CUDA_ERROR_NOT_SUPPORTED;
      }
    }
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
