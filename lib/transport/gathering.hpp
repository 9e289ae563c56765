// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/transport.hpp"

#include <string>

namespace chorus {

// The two exchanges by which a communicator is set up, before any collective can be chosen.

/// Gives every rank the records of all: `table` holds one record of `table.size() / size` bytes a rank, this rank's own
/// in its place.
Task<> gather_records(Transport& transport, Bytes table);

/// Gives every rank the `text` of rank 0.
Task<std::string> spread_text(Transport& transport, std::string text);

}  // namespace chorus
