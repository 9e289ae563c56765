// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <cstddef>
#include <limits>
#include <new>

// Registered memory: every rank of the node reaches it directly, so that a collective reads a rank's data where it
// lies, and may write its result there, instead of having it copied through shared slots or by the system. Pass it to
// any call, in any part, as any buffer.
namespace chorus {

/// Gives the calling rank `bytes` of registered memory, of which no other rank needs to know or do anything.
///
/// Shapes   any length; of 16 KiB and more it takes whole pages of 4 KiB, and from 2 MiB on begins at a multiple of
///          that and is made of huge pages where the system allows them to shared memory. Shorter buffers, which gain
///          nothing, are ordinary memory, and so is everything where the system has no room or no anonymous shared
///          memory, with CHORUS_SHARED_MEMORY=named or off, and in forked children. Ordinary memory works everywhere,
///          too.
/// Memory   host, aligned to 64 bytes or more, with any content. The system gives a page when it is first touched, near
///          the core that touches it, as with `malloc`; where it counts strictly (vm.overcommit_memory=2), at once.
///          Unlike other memory it is shared with children that the process forks; and tools that add up the resident
///          memory of processes count it for each rank that has read it.
/// Order    any thread, before or after MPI starts or a communicator is made. Getting and giving back are calls of the
///          system, and the first touches cost more: keep a buffer rather than make one for each call.
/// Throws   std::bad_alloc, whose text says how many bytes, where there is no memory.
[[nodiscard]] CHORUS_API void* allocate(std::size_t bytes);

/// Gives memory back to the system: what `allocate` returned, or null. No call that uses it may be under way. The
/// program ends with a message where `data` is registered memory, but not the beginning of what was allocated and not
/// yet given back.
CHORUS_API void deallocate(void* data) noexcept;

/// True where these bytes lie where registered memory is; whether they are allocated it does not tell. Long blocks of
/// bcast, reduce, allreduce, reduce_scatter_block, allgather, alltoall, gather and scatter profit from a buffer of
/// which this is true; the ranks of a call may differ.
[[nodiscard]] CHORUS_API bool is_registered(const void* data, std::size_t bytes) noexcept;

/// For containers: std::vector<double, chorus::Allocator<double>>.
template <class T>
struct Allocator {
  using value_type = T;

  Allocator() noexcept = default;
  /// Implicit, as containers want it.
  template <class Other>
  Allocator(const Allocator<Other>& /*other*/) noexcept {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* allocate(std::size_t count) {
    static_assert(alignof(T) <= 64);
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(chorus::allocate(count * sizeof(T)));
  }
  void deallocate(T* data, std::size_t /*count*/) noexcept { chorus::deallocate(data); }

  template <class Other>
  friend bool operator==(const Allocator& /*left*/, const Allocator<Other>& /*right*/) noexcept {
    return true;
  }
};

}  // namespace chorus
