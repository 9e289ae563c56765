// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/export.hpp>

#include <vector>

namespace chorus {

/// Makes a communicator whose ranks are threads of this process. Element r is that of rank r: give it to one thread,
/// which calls the collectives with it while others call them with the other elements. MPI need not run, and no call on
/// them touches it.
///
/// Shapes   `ranks` is 1 or more; more than the process has cores work, slower.
/// Memory   each rank reads and writes the others' buffers where they lie, unless CHORUS_SINGLE_COPY=0.
/// Order    one thread makes them; its element may be any. All that Communicator says holds for each element by itself:
///          the elements are used at the same time, in any state of MPI. A thread that ends early holds the others up,
///          until it revokes its element. Where threads are bound (ThreadBinding), they are before their first
///          collective.
/// Result   the algorithms, settings and errors of ranks that are processes, but for these: `native` is not there;
///          split, dup, subset, node and leaders throw Error{not_supported}; requests are driven by the thread that has
///          made them, in any call into chorus, and by no progress thread. The environment is read now, in this
///          process.
/// Throws   Error{invalid_argument} where `ranks` is less than 1; Error{invalid_environment} where a variable of the
///          environment is wrong.
[[nodiscard]] CHORUS_API std::vector<Communicator> thread_communicators(int ranks);

namespace detail {

/// The same for the replicas of a strategy: they share memory whatever CHORUS_SHARED_MEMORY and CHORUS_NODE_RANKS say,
/// so that they find where they differ.
[[nodiscard]] CHORUS_API std::vector<Communicator> replica_communicators(int replicas);

}  // namespace detail
}  // namespace chorus
