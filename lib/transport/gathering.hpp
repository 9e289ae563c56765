// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/transport.hpp"

#include <string>

namespace chorus {

// The exchanges by which communicators are set up and made, before any collective can be chosen.

/// Waits, in the memory of this rank's node, until its ranks have come to `call`; finds those that call something else.
/// Does nothing where the node has no memory.
Task<> meet_in_memory(const Transport& transport, Call call);

/// Gives every rank the records of all: `table` holds one record of `table.size() / size` bytes a rank, this rank's own
/// in its place.
Task<> gather_records(Transport& transport, Bytes table);

/// Gives every rank the `text` of rank 0.
Task<std::string> spread_text(Transport& transport, std::string text);

}  // namespace chorus
