// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "device/device_memory.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/detail/buffers.hpp>

namespace chorus {

struct Used;

/// `data`, which may be memory of a device, must be memory of the host, unless it cannot be known.
[[gnu::cold]] void check_host(const detail::CommunicatorState& state, Collective collective, const void* data,
                              const char* argument);

/// The buffers that are `used` must be where the call says they are: in the memory of the host or of a device, as
/// `arguments` are told.
[[gnu::cold]] void check_place(const detail::CommunicatorState& state, const detail::Buffers& buffers, Used used,
                               Arguments& arguments);

/// What comes before an algorithm is chosen for a call on device memory: the first one finds out how the devices of the
/// ranks reach one another. False where nobody has any elements, and nothing is left to do.
/// Throws detail::Refusal where its stream is captured and this is the first call.
[[nodiscard]] bool prepare_device(detail::CommunicatorState& state, const Arguments& arguments);

/// Throws detail::Refusal where the stream of the call is captured and `algorithm` waits for what it puts there, or
/// where it is one that NCCL's threads would take for another.
void check_stream(const detail::CommunicatorState& state, const Algorithm& algorithm, const Arguments& arguments);

}  // namespace chorus
