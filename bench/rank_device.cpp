// SPDX-License-Identifier: Apache-2.0
#include "rank_device.hpp"

#include "cuda_aware_mpi.hpp"
#include "device/device_stream.hpp"
#include "device/nccl_native.hpp"
#include "device/visible_gpus.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/bcast.hpp>
#include <chorus/error.hpp>
#include <chorus/gpu.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <optional>
#include <string>

namespace chorus::bench {
namespace {

/// Throws   Refusal on every rank where a rank says why not, for the first one that does.
void refuse_together(const char* option, const std::string& why_not) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int first = why_not.empty() ? ranks : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == ranks) return;
  std::string text = why_not;
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
  throw Refusal(fmt::format("{}: rank {}: {}", option, first, text));
}

/// Why this rank has no device; empty where it has one, which is then its thread's.
std::string take_own(const std::optional<Gpu>& gpu) try {
  if (!gpu) return visible_gpus().reason;
  use_device(gpu->ordinal);
  return {};
} catch (const Error& error) {
  return error.message();
}

/// Whether NCCL connects the devices of the ranks, as chorus finds out in its first call.
bool nccl_connects(const Communicator& world) {
  const DeviceBuffer buffer(sizeof(float));
  const DeviceStream stream;
  bcast(world, DeviceSpan<float>(reinterpret_cast<float*>(buffer.data()), 1), root, stream.get());
  stream.wait();
  return world.state().transport().device_native() != nullptr;
}

}  // namespace

void take_devices(const Options& options, const Communicator& world) {
  refuse_together("--memory device", take_own(nearest_gpu(world)));
  if (options.compare == Peer::nccl) {
    refuse_together("--compare nccl", nccl_here().missing);
    if (!nccl_connects(world)) {
      throw Refusal(
          "--compare nccl: NCCL cannot connect these ranks, for which CHORUS_LOG=info gives the reason; start no more "
          "ranks on a node than it has devices, with one version of NCCL for all");
    }
  }
  if (options.compare != Peer::mpi) return;
  if (const std::string why_not = why_not_cuda_aware(); !why_not.empty()) {
    throw Refusal(fmt::format("--compare native: {}", why_not));
  }
}

}  // namespace chorus::bench
