// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/request.hpp>

#include <cstddef>
#include <span>

namespace chorus {

/// Gives every rank a block from every rank; blocks may differ in length and element type and lie anywhere in memory.
///
/// Shapes   in [size], where in[r] is what goes to rank r; out [size], where out[r] gets what comes from rank r; the
///          length of out[r] is that of what rank r gives this one. `std::as_bytes` makes such a block of any span.
/// Memory   host, any alignment; no block of `out` overlaps another block. The lists may go when the function returns.
/// Order    blocks until `out` may be read and `in` reused.
/// Throws   Error{invalid_argument} where a list has not one block for each rank or blocks overlap, before anything is
///          sent; Error{not_supported} where the named algorithm does not apply; Error{mismatch} where ranks disagree
///          on the call, or a rank gives another length than its peer expects; Error{timeout} or Error{peer_lost}:
///          `out` is then unspecified and `comm` broken.
CHORUS_API void alltoallw(const Communicator& comm, std::span<const std::span<const std::byte>> in,
                          std::span<const std::span<std::byte>> out, const CollectiveOptions& options = {});

/// The same in place: what comes from a rank takes the place of what goes to it.
CHORUS_API void alltoallw(const Communicator& comm, std::span<const std::span<std::byte>> inout,
                          const CollectiveOptions& options = {});

/// Starts it and returns; the blocks belong to the request until it is complete.
[[nodiscard]] CHORUS_API Request ialltoallw(const Communicator& comm, std::span<const std::span<const std::byte>> in,
                                            std::span<const std::span<std::byte>> out,
                                            const CollectiveOptions& options = {});
[[nodiscard]] CHORUS_API Request ialltoallw(const Communicator& comm, std::span<const std::span<std::byte>> inout,
                                            const CollectiveOptions& options = {});

/// Prepares it, to be started again and again; the blocks must live as long as the request.
[[nodiscard]] CHORUS_API PersistentRequest alltoallw_init(const Communicator& comm,
                                                          std::span<const std::span<const std::byte>> in,
                                                          std::span<const std::span<std::byte>> out,
                                                          const CollectiveOptions& options = {});
[[nodiscard]] CHORUS_API PersistentRequest alltoallw_init(const Communicator& comm,
                                                          std::span<const std::span<std::byte>> inout,
                                                          const CollectiveOptions& options = {});

}  // namespace chorus
