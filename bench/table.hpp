// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/options.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace chorus {
class DeviceStream;
class PlainNccl;
}  // namespace chorus

namespace chorus::bench {

/// One call of a collective, the same for chorus and for MPI: float32, sum, root 0, all ranks of the job.
struct Call {
  Communicator world;
  std::span<const float> in;
  std::span<float> out;  ///< of a broadcast: the data
  CollectiveOptions options;
  /// Where it is given, the buffers are of a device, which the host must not touch, and runs return when the call is in
  /// the stream; nobody waits for it there but who measures.
  const DeviceStream* stream = nullptr;
  const PlainNccl* nccl = nullptr;  ///< for a run of NCCL's own
};

/// That of every call which has one.
constexpr int root = 0;

/// Elements of one block of `data`, which has one for each rank.
inline std::size_t block_of(const Call& call, std::span<const float> data) {
  return data.size() / static_cast<std::size_t>(call.world.size());
}
/// Elements of `data`, and of one block of it, as MPI counts them.
inline int count_of(std::span<const float> data) { return static_cast<int>(data.size()); }
inline int block_count_of(const Call& call, std::span<const float> data) {
  return static_cast<int>(block_of(call, data));
}

/// Carries out a call and returns when its result may be read, or, with a stream, when the call is there.
using Run = void (*)(const Call&);
/// The same of something that is no row's.
using AnyRun = std::function<void(const Call&)>;

/// Elements of a call's buffers on every rank.
struct Lengths {
  std::size_t in = 0;
  std::size_t out = 0;
};

/// A collective as the benchmark sees it. What "size" means follows the OSU benchmarks: the bytes one rank gives
/// (bcast: the root; alltoall, scatter: to each rank; reduce_scatter: the whole input, so that each rank gets 1/ranks
/// of it; those with blocks of different lengths are called with equal ones).
struct Row {
  std::string_view name;   ///< on the command line
  std::string_view title;  ///< in the heading
  bool has_size;           ///< false: nothing is sent but the call itself
  bool splits_input;       ///< the input must be a whole number of elements per rank
  /// Buffers for an input of `count` elements.
  Lengths (*lengths)(std::size_t count, std::size_t ranks);
  Run chorus;
  Run native;
  /// Runs the call once on known data and a poisoned output; false where this rank's result is wrong. Called by all.
  bool (*validate)(const Call&, const AnyRun&);
  /// Bytes that cross the busiest link per byte of the size, at best (nccl-tests' bus bandwidth).
  double (*bus_factor)(double ranks);
};

/// Every collective of the benchmark.
[[nodiscard]] std::span<const Row> table();

/// The size that is really measured: `bytes` rounded down so that the input can be split, where it has to be.
[[nodiscard]] std::size_t fitting_size(const Row& row, std::size_t bytes, int ranks);

}  // namespace chorus::bench
