// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/export.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

// Collectives on memory of GPUs: the same functions with DeviceSpans, and with the stream whose order they keep. What
// holds for all of these calls:
//
// Shapes   as on memory of the host, with the same in-place rules; a DeviceSpan has no begin(), so that the two cannot
//          be taken for one another. The reductions take a ReduceOp or a PremultipliedSum, and no function.
// Memory   of one device for all calls of a rank on a communicator and on those made of it afterwards (for another
//          device: Communicator::dup before the first of them), from cudaMalloc, cudaMallocAsync or cuMemAlloc;
//          managed memory, too. A rank that gives none in the first call takes the device that is current for its
//          thread. It must not be freed before the call is over in its stream.
// Order    in the order of `stream`: the call waits for what was put there before, and what is put there later waits
//          for the call. By the algorithm `nccl` it returns as soon as it is in the stream, without waiting for other
//          ranks, and can be captured for a graph, but for the first one of a communicator, which connects the ranks;
//          the first ones of a kind and length may wait for that, too. CollectiveOptions::timeout counts on in the
//          stream: where the call is not over by then, it is aborted, and the next call throws Error{timeout}.
//          By `ipc_one_shot` and `ipc_two_shot` of allreduce it waits for what was put into the stream before and for
//          the hosts of the other ranks, and returns when it is in the stream. By `staged` it returns when it is over,
//          and by neither of the three it can be captured. `synchronize` waits for it and hears of failures meanwhile.
// Result   NCCL's, by `nccl`: sums of 16-bit floats may be rounded at each step. Deterministic and reproducible calls,
//          and types and operations that NCCL has not, go by `staged`; an allreduce that is not reproducible also by
//          windows, which joins in the order of the ranks and rounds once. A reproducible call has the bits of the same
//          call on the host; a deterministic one those of every run with the same ranks in the same places, which may
//          be others than on the host, as long vectors go by segments.
// Throws   also Error{not_built} where the library was built without CUDA, Error{not_supported} where there is no
//          driver, or a stream is captured for a call that cannot be, Error{invalid_argument} where a buffer is not of
//          a device, or of another than before, and Error{transport} where CUDA or NCCL fails. Where all ranks have no
//          elements, a call whose blocks are of one length asks for no device, and throws none of these.
namespace chorus {

class Communicator;

/// Elements in the memory of a GPU, which the host cannot reach: a pointer and a length.
template <class T>
requires Element<std::remove_const_t<T>>
class DeviceSpan {
 public:
  constexpr DeviceSpan() noexcept = default;
  constexpr DeviceSpan(T* data, std::size_t count) noexcept : data_(data), count_(count) {}
  /// Of elements that are not to be changed.
  template <class Other>
  requires std::same_as<const Other, T>
  constexpr DeviceSpan(const DeviceSpan<Other>& other) noexcept  // NOLINT(google-explicit-constructor)
      : data_(other.data()), count_(other.size()) {}

  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
  /// `count` elements from `offset` on; not checked, as those of std::span.
  [[nodiscard]] constexpr DeviceSpan subspan(std::size_t offset, std::size_t count) const noexcept {
    return {data_ + offset, count};
  }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

/// Two spans of one element type, the first to read, the second to write.
template <class In, class Out>
concept DeviceSpans = std::same_as<std::remove_const_t<In>, Out>;

/// A stream of CUDA, which it does not own. `Stream(stream)` takes a cudaStream_t or a CUstream, which are the same.
class Stream {
 public:
  /// CUDA's default stream.
  constexpr Stream() noexcept = default;
  constexpr explicit Stream(void* native) noexcept : native_(native) {}
  [[nodiscard]] constexpr void* native() const noexcept { return native_; }

 private:
  void* native_ = nullptr;
};

/// Waits until what has been put into `stream` is over, as cudaStreamSynchronize does, and meanwhile hears of what that
/// does not: NCCL's errors, ranks whose process has died or that have revoked `comm`, and the time that CHORUS_TIMEOUT
/// gives.
///
/// Order    any rank, alone; `stream` belongs to the device of the communicator's calls. After a call by `staged` there
///          is nothing to wait for. Without a call on `comm` yet it returns at once.
/// Throws   Error{transport}, Error{timeout}, Error{peer_lost} or Error{revoked}: NCCL's calls under way are then
///          aborted, so that the stream goes on, their results are unspecified, and `comm` is broken.
CHORUS_API void synchronize(const Communicator& comm, Stream stream);

/// The same for a stream of the device that is current for this thread, and of no communicator: it hears of nothing.
CHORUS_API void synchronize(Stream stream);

}  // namespace chorus
