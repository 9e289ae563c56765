// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/export.hpp>
#include <chorus/options.hpp>
#include <chorus/request.hpp>

namespace chorus {

/// Returns on every rank after every rank has called it.
///
/// Order    blocks until all ranks have arrived.
/// Throws   Error{not_supported} where the named algorithm does not apply; Error{mismatch} where ranks disagree on
///          the call; Error{timeout} or Error{peer_lost}: `comm` is then broken.
CHORUS_API void barrier(const Communicator& comm, const CollectiveOptions& options = {});

/// Starts it and returns: the request is complete once every rank has called it.
[[nodiscard]] CHORUS_API Request ibarrier(const Communicator& comm, const CollectiveOptions& options = {});

/// Prepares it, to be started again and again.
[[nodiscard]] CHORUS_API PersistentRequest barrier_init(const Communicator& comm,
                                                        const CollectiveOptions& options = {});

}  // namespace chorus
