// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/task.hpp"
#include "transport/transport.hpp"

#include <array>

namespace chorus {

/// Up to three exchanges that are under way together; those without a destination and a source are none.
Task<> three_at_once(Transport& transport, std::array<Envelope, 3> exchanges);

}  // namespace chorus
