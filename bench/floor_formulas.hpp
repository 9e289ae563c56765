// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "buffer.hpp"
#include "node_speed.hpp"

#include <cstddef>
#include <string_view>

namespace chorus::bench {

/// What a rank cannot do without.
struct Need {
  int lines = 0;       ///< cache lines that travel from rank to rank one after another
  double read = 0;     ///< bytes that other ranks have
  double written = 0;  ///< bytes put where others can read them: none where the buffers are there already
  double copied = 0;   ///< bytes from private to private memory
  double reduced = 0;  ///< bytes of the results of reducing two inputs
};

/// The ranks with most to do: the root or last rank, and any other one. For p ranks and n bytes, as the benchmark
/// counts them:
///
///     barrier                          one line
///     bcast                            the root writes n; the others read n
///     scatter(v)                       the root writes (p-1)n and copies its own n; the others read n
///     gather(v)                        the root reads (p-1)n and copies its own n; the others write n
///     allgather(v)                     reads (p-1)n, writes n and copies it
///     alltoall(v, w)                   reads and writes (p-1)n and copies n
///     reduce, scan                     the root or last rank reads n, which the others may have reduced among them,
///                                      and reduces n; the others write n, and the first rank of a scan copies it
///     exscan                           as scan; of two ranks nothing is reduced or copied
///     reduce_scatter(_block)           reads, writes and reduces (p-1)n/p
///     allreduce                        that, and the results of the n/p: writes its own, and reads the others'
///
/// The lines of all ranks may travel at the same time, so that never more than one follows another.
struct Needs {
  Need root, other;
};

/// Two ranks or more.
[[nodiscard]] Needs needs_of(Collective collective, std::size_t bytes, int ranks);

/// The time of the rank that takes longest, and no less than lines * line time. A rank moves bytes from memory of its
/// own in the fastest of the ways that NodeSpeed has:
/// - read / read rate + written / write rate + copied / copy rate of data written by plain stores, or streamed; what it
///   reads it reduces in the same pass, so that it takes this, or reduced / reduce rate where that is longer;
/// - with nothing written, read by the system: read / system's rate + copied / copy rate + reduced / reduce rate, as
///   this rank's core does both.
/// Of registered memory nothing is written, and the faster read rate counts.
struct Floor {
  double us = 0;
  std::string_view bound;  ///< which it is: "line", "bytes", "reduction" or "system"
};
[[nodiscard]] Floor floor_of(const Needs& needs, const NodeSpeed& speed, Memory memory);

}  // namespace chorus::bench
