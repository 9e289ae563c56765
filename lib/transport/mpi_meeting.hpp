// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace chorus {

class Engine;

// How ranks come together before they make a communicator. One of two files has it: mpi_meeting.cpp or, for simulated
// ranks, smpi_meeting.cpp.

/// Returns once all ranks of `comm` have come to this, in the call of `function`. It goes before calls of MPI that wait
/// inside it, where nobody looks at the clock: they take no longer then than their messages, unless a rank is lost
/// meanwhile. Nonblocking operations that are parked in `engine` move on, as others may wait for them before they come.
///
/// Order    collective over `comm`; one thread for each `comm` at a time.
/// Throws   Error{timeout} where ranks have not come within CHORUS_TIMEOUT; warns after CHORUS_STALL_WARNING. Each rank
///          goes by its own environment: that of rank 0, which counts later, is not known yet. MPI cannot take back
///          what has begun on `comm`: the next meeting there goes on with it.
void meet(MPI_Comm comm, const char* function, Engine& engine);

/// The last meeting on `comm` has thrown.
[[nodiscard]] bool is_given_up(MPI_Comm comm);
/// The same of any communicator: some rank may be lost.
[[nodiscard]] bool some_meeting_is_given_up() noexcept;

}  // namespace chorus
