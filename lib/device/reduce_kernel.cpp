// SPDX-License-Identifier: Apache-2.0
#include "device/reduce_kernel.hpp"

#include "device/cuda.hpp"
#include "device/kernels/image.hpp"

#include <chorus/error.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

namespace chorus {
namespace {

constexpr std::uint64_t block_threads = 512;
/// Enough to have all of a device's memory pipes busy, and few against what else runs there.
constexpr std::uint64_t most_blocks = 128;

bool at_pack(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % device_kernels::pack_bytes == 0;
}

CUfunction load() {
  if (kernel_image().empty()) {
    throw Error(ErrorCode::not_supported, "the library was built without nvcc, so it has no kernels");
  }
  CUmodule module = nullptr;
  cuda().check(cuda().module_load_data(&module, kernel_image().data()), "load kernels");
  CUfunction kernel = nullptr;
  cuda().check(cuda().module_get_function(&kernel, module, device_kernels::reduce_name), "find a kernel");
  return kernel;
}

}  // namespace

CUfunction reduce_kernel(CUcontext current) {
  static auto* const mutex = new std::mutex;
  static auto* const known = new std::map<CUcontext, CUfunction>;
  const std::scoped_lock lock(*mutex);
  const auto found = known->find(current);
  return found != known->end() ? found->second : known->emplace(current, load()).first->second;
}

void launch_reduction(CUfunction kernel, device_kernels::Reduction reduction, CUstream stream) {
  reduction.packs =
      at_pack(reduction.out) && std::all_of(reduction.inputs, reduction.inputs + reduction.ranks, at_pack);
  const std::uint64_t length = reduction.packs ? device_kernels::pack_bytes / size_of(reduction.type) : 1;
  const std::uint64_t blocks = (reduction.count / length + block_threads - 1) / block_threads;
  const auto grid = static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, most_blocks));
  void* parameters[] = {&reduction};
  cuda().check(cuda().launch_kernel(kernel, grid, 1, 1, block_threads, 1, 1, 0, stream, parameters, nullptr),
               "launch a kernel");
}

}  // namespace chorus
