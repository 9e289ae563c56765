// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/export.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace chorus {

class Communicator;

/// A GPU, or one of the instances that a GPU is cut into (MIG), as one process can use it. A plain value.
struct Gpu {
  int ordinal = 0;     ///< CUDA's number for it in this process, for cudaSetDevice
  std::string bus_id;  ///< where it is on the PCI bus: "0000:3b:00.0"; the instances of a GPU have the same
  std::string uuid;    ///< tells it from all others: as `nvidia-smi -L` prints it, without "GPU-" or "MIG-"
  std::string name;    ///< "NVIDIA H100 80GB HBM3"
  std::uint64_t memory_bytes = 0;

  friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// The GPUs that this process can use, by CUDA's numbers: what CUDA_VISIBLE_DEVICES and the system leave. None where
/// there is no driver or the library has been built without CUDA; `chorus-info topology` says why.
///
/// Order    any thread. It loads CUDA's driver, and makes no context.
[[nodiscard]] CHORUS_API std::vector<Gpu> local_gpus();

/// `gpu` as a place where a replica runs: that GPU, and those of the PUs of this process that are next to it, in the
/// smallest part of the machine that its PCI root belongs to; all of them where none is, or its place is not known.
[[nodiscard]] CHORUS_API Device gpu_device(const Gpu& gpu);

/// The same of each of local_gpus(): /gpu:0 and so on, one at the least.
/// Throws   Error{not_supported} where this process can use none, which says why: a strategy that was given no devices
///          would run on the cores.
[[nodiscard]] CHORUS_API std::vector<Device> gpu_devices();

/// Makes a GPU the current one of CUDA for the calling thread, as cudaSetDevice does, until this is destroyed by the
/// same thread: the one before is current then.
///
/// Throws   Error{invalid_argument} where this process cannot use the GPU; Error{not_built} where the library was built
///          without CUDA, Error{not_supported} where there is no driver, Error{transport} where CUDA fails.
class CHORUS_API CurrentGpu {
 public:
  /// `ordinal`: CUDA's number.
  [[nodiscard]] explicit CurrentGpu(int ordinal);
  CurrentGpu(const CurrentGpu&) = delete;
  CurrentGpu& operator=(const CurrentGpu&) = delete;
  ~CurrentGpu();
};

/// Gives every rank the GPU that it is to use, for cudaSetDevice(gpu->ordinal): one of those that its process can use;
/// none where that is none.
///
/// On each machine no GPU gets more ranks than it has to. Then the ranks are as near to their GPUs as can be, step by
/// step from the same part of a NUMA domain over the domain and the package to the machine, by where a rank is bound;
/// then as evenly spread as can be. Among equals, lower ranks get GPUs with lower numbers: ranks that are not bound are
/// spread in their order. GPUs are told apart by their UUIDs, so that ranks may see different ones, as Slurm's
/// --gpus-per-task has it; an instance of MIG counts as a GPU. With CHORUS_GPUS=0,0,1,1 the first two ranks
/// on each machine take the GPU that CUDA calls 0 in their processes, the next two that called 1.
///
/// Order    every rank calls, as a collective; blocks until all have. Once, before the first use of a GPU, and after
///          threads that are ranks are bound. It loads CUDA's driver, and neither makes a context nor sets the device.
/// Result   the same in each run in which ranks are bound alike and see the same GPUs.
/// Throws   what a collective throws; Error{invalid_environment} on every rank where CHORUS_GPUS has too few entries
///          for a machine, or names a GPU that a rank cannot use: `comm` is then as it was.
[[nodiscard]] CHORUS_API std::optional<Gpu> nearest_gpu(const Communicator& comm);

}  // namespace chorus
