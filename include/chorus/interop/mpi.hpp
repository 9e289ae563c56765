// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/export.hpp>

#include <mpi.h>

namespace chorus {

/// A communicator over the ranks of `comm`, in its order. Called by all of them; the environment of its rank 0 counts,
/// but for how long a rank waits here for the others: there each goes by its own CHORUS_TIMEOUT and
/// CHORUS_STALL_WARNING, as none knows those of rank 0 yet.
///
/// Memory   `comm` is kept, not duplicated: free it after the chorus communicator. It may be used for other things
///          meanwhile; where MPI's own collective is chosen chorus calls it on `comm`, in the order of the calls.
///          A nonblocking call starts late, when `wait`, `test` or another call first drives it: MPI's own could then
///          come after others on `comm`, and in another order on another rank. So it is chosen for a nonblocking call
///          only where the call names `native`; use `comm` for nothing else until such a request is done.
///          After a time limit has passed inside such a call `comm` is left in the middle of it: free it then.
/// Throws   Error{not_initialized} before MPI is initialised or after it is finalised; Error{invalid_argument} where
///          `comm` is MPI_COMM_NULL or an intercommunicator; Error{timeout} where a rank has not come in time. `comm`
///          is then in the middle of a barrier: from_mpi, called with it again by all, goes on with that, and MPI's own
///          collectives may not be called on it before.
[[nodiscard]] CHORUS_API Communicator from_mpi(MPI_Comm comm);

}  // namespace chorus
