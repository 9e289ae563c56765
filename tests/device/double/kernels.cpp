// SPDX-License-Identifier: Apache-2.0
#include "cuda_call.hpp"
#include "device/kernels/reduce_elements.hpp"
#include "memory.hpp"
#include "peers.hpp"
#include "streams.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

// cuModule... and cuLaunchKernel: kernels are run by the host.
namespace chorus::test::doubles {
namespace {

using device_kernels::Reduction;

constexpr std::uint32_t fatbin_magic = 0xBA55ED50;

/// A launch: where, and by how many threads.
struct Launch {
  std::shared_ptr<Stream> stream;
  std::uint64_t threads = 0;
};

/// What is behind an address that a kernel reads or writes, if it may; keeps it in `used`.
void* reach(const void* address, std::size_t bytes, const Stream& stream, std::vector<Bytes>& used) {
  Bytes found;
  if (!find_bytes("a kernel", reinterpret_cast<std::uintptr_t>(address), bytes, Place::device, found)) return nullptr;
  if (const char* const why = obstacle(*found.allocation, stream.context, stream.device)) {
    record_fault(fmt::format("a kernel on device {}: {} bytes {}", stream.device, bytes, why));
    return nullptr;
  }
  used.push_back(found);
  return found.data;
}

bool is_aligned(const Reduction& reduction) {
  const std::size_t unit = reduction.packs ? device_kernels::pack_bytes : size_of(reduction.type);
  const auto aligned = [&](const void* address) { return reinterpret_cast<std::uintptr_t>(address) % unit == 0; };
  bool all = aligned(reduction.out);
  for (int rank = 0; rank < reduction.ranks; ++rank) all = all && aligned(reduction.inputs[rank]);
  return all;
}

/// The work of chorus_reduce, by the code that devices run.
CUresult launch_reduce(const void* parameter, const Launch& launch) {
  Reduction reduction;
  std::memcpy(&reduction, parameter, sizeof reduction);
  if (!is_aligned(reduction)) {
    record_fault("a kernel reads or writes at an address that is not aligned");
    return CUDA_ERROR_LAUNCH_FAILED;
  }
  std::vector<Bytes> used;
  const std::size_t bytes = reduction.count * size_of(reduction.type);
  reduction.out = reach(reduction.out, bytes, *launch.stream, used);
  bool all = reduction.out != nullptr;
  for (int rank = 0; rank < reduction.ranks; ++rank) {
    const void*& input = reduction.inputs[rank];
    all = (input = reach(input, bytes, *launch.stream, used)) != nullptr && all;
  }
  if (!all) return CUDA_ERROR_LAUNCH_FAILED;
  enqueue(launch.stream, [=]() -> Work {
    return [=, kept = used](Lock& lock) {
      const bool slow = launch.stream->device == settings().slow_device;
      const auto delay = slow ? settings().kernel_delay : std::chrono::microseconds(0);
      lock.unlock();
      std::this_thread::sleep_for(delay);
      for (std::uint64_t thread = 0; thread < launch.threads; ++thread) {
        device_kernels::reduce_elements(reduction, thread, launch.threads);
      }
      lock.lock();
    };
  });
  return CUDA_SUCCESS;
}

/// The kernels that there are, and their work. `parameter` is the only one.
using Launcher = CUresult (*)(const void* parameter, const Launch& launch);
const std::map<std::string, Launcher>& kernels() {
  static const auto& all = *new std::map<std::string, Launcher>{{device_kernels::reduce_name, launch_reduce}};
  return all;
}

struct Function {
  CUmodule module = nullptr;
  Launcher launcher = nullptr;
};

std::map<CUmodule, CUcontext>& modules() {
  static auto& all = *new std::map<CUmodule, CUcontext>;
  return all;
}
std::map<CUfunction, Function>& functions() {
  static auto& all = *new std::map<CUfunction, Function>;
  return all;
}

}  // namespace
}  // namespace chorus::test::doubles

using namespace chorus::test::doubles;

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return cuda_call({.function = "cuModuleLoadData"}, Needs::context, [&](Lock&) {
    if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (std::memcmp(image, &fatbin_magic, sizeof fatbin_magic) != 0) return CUDA_ERROR_INVALID_IMAGE;
    *module = static_cast<CUmodule>(new_handle());
    modules()[*module] = current_context();
    ++living().modules;
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return cuda_call({.function = "cuModuleUnload"}, Needs::context, [&](Lock&) {
    if (modules().erase(module) == 0) return CUDA_ERROR_INVALID_HANDLE;
    std::erase_if(functions(), [&](const auto& entry) { return entry.second.module == module; });
    --living().modules;
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return cuda_call({.function = "cuModuleGetFunction"}, Needs::context, [&](Lock&) {
    if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!modules().contains(module)) return CUDA_ERROR_INVALID_HANDLE;
    const auto found = kernels().find(name);
    if (found == kernels().end()) return CUDA_ERROR_NOT_FOUND;
    *function = static_cast<CUfunction>(new_handle());
    functions()[*function] = {module, found->second};
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  return cuda_call({.function = "cuLaunchKernel", .stream = stream}, Needs::context, [&](Lock&) {
    const auto known = functions().find(function);
    if (known == functions().end()) return CUDA_ERROR_INVALID_HANDLE;
    const bool in_one_row = grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1;  // as the kernels count
    const bool within_limits = grid_x >= 1 && grid_x <= 0x7FFFFFFF && block_x >= 1 && block_x <= 512;
    if (!in_one_row || !within_limits || shared_bytes > 0) return CUDA_ERROR_INVALID_VALUE;
    if (parameters == nullptr || parameters[0] == nullptr || extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
    Launch launch;
    const CUresult result = find_stream("cuLaunchKernel", stream, StreamUse::work, launch.stream);
    if (result != CUDA_SUCCESS) return result;
    if (launch.stream->context != modules()[known->second.module]) {
      record_fault("cuLaunchKernel of a kernel of one device on a stream of another");
      return CUDA_ERROR_INVALID_HANDLE;
    }
    launch.threads = std::uint64_t{grid_x} * block_x;
    return known->second.launcher(parameters[0], launch);
  });
}

}  // extern "C"
