// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "node_speed.hpp"

#include <cstddef>
#include <string_view>

namespace chorus::bench {

/// What the busiest rank of a collective cannot do without where all ranks share memory and each may read what any
/// other has, once and without a copy between. For p ranks and n bytes, as the benchmark counts them:
///
///     barrier                                  one line
///     bcast, scatter(v)                        one line; the receivers read n
///     gather(v), allgather(v), alltoall(v, w)  one line; reads (p-1)n of the others and copies its own n
///     reduce, scan                             one line; the root or the last rank reads n, which the others may
///                                              have reduced among them, and reduces n
///     exscan                                   the same; of two ranks nothing is reduced
///     reduce_scatter(_block)                   one line; reads and reduces (p-1)n/p
///     allreduce                                one line; that, and reads the (p-1)n/p that the others have reduced
///
/// The lines of all ranks may travel at the same time, so that never more than one follows another.
struct Need {
  int lines = 0;       ///< cache lines that travel from rank to rank one after another
  double read = 0;     ///< bytes that other ranks have written
  double copied = 0;   ///< bytes from private to private memory
  double reduced = 0;  ///< bytes of the results of reducing two inputs
};

/// Two ranks or more.
[[nodiscard]] Need need_of(Collective collective, std::size_t bytes, int ranks);

/// The longest of three times, any of which may overlap the others: lines * line time; read / read rate +
/// copied / copy rate; reduced / reduce rate.
struct Floor {
  double us = 0;
  std::string_view bound;  ///< which it is: "line", "bytes" or "reduction"
};
[[nodiscard]] Floor floor_of(const Need& need, const NodeSpeed& speed);

}  // namespace chorus::bench
