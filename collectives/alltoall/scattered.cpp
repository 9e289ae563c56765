// SPDX-License-Identifier: Apache-2.0
//
// Scattered alltoall: as `pairwise`, but several pairs of each rank are under way at a time, and none waits for
// another.
//
// The steps of `pairwise` are dealt out to rows that run side by side. With p = 8 and 4 rows, on rank 0, which swaps
// with rank s in step s:
//
//   row 0   (0)  4          row 2   2  6
//   row 1    1   5          row 3   3  7
//
// For medium and long blocks between many ranks: a partner that is late holds up one row, and the links of a rank are
// busy meanwhile. In place each row keeps a block of working memory. Right for any p.

#include "algorithm.hpp"
#include "reduction.hpp"
#include "task/when_all.hpp"

#include <algorithm>
#include <array>

namespace chorus::alltoall_scattered {
namespace {

constexpr int most_rows = 8;

bool applies(const Problem& problem) { return problem.ranks > 2; }

Traffic traffic(const Problem& problem) {
  const double others = problem.ranks - 1;
  const double rows = std::min(problem.ranks, most_rows);
  const double bytes = others * static_cast<double>(problem.call.bytes());
  return {.shared = {},
          .messages = {.messages = others, .bytes = bytes, .reduced = 0},
          .together = {.messages = others * (rows - 1) / rows}};
}

/// Every most_rows-th step from `row` on.
Task<> run_row(Transport& transport, Arguments arguments, int row, Bytes scratch) {
  const int me = transport.rank();
  const int ranks = transport.size();
  const std::size_t bytes = arguments.call.bytes();
  const auto offset = [&](int rank) { return static_cast<std::size_t>(rank) * bytes; };
  for (int step = row; step < ranks; step += most_rows) {
    const int peer = (step + ranks - me) % ranks;
    if (peer == me) continue;
    const Bytes incoming = scratch.empty() ? Bytes(arguments.out + offset(peer), bytes) : scratch;
    co_await transport.sendrecv(ConstBytes(arguments.in + offset(peer), bytes), peer, incoming, peer);
    copy_unless_same(arguments.out + offset(peer), incoming.data(), bytes);
  }
}

Task<> run(Transport& transport, Arguments arguments) {
  const std::size_t bytes = arguments.call.bytes();
  const auto rows = static_cast<std::size_t>(std::min(transport.size(), most_rows));
  const std::size_t kept = arguments.in == arguments.out ? bytes : 0;
  const Scratch scratch = transport.scratch(most_rows * kept);
  const std::size_t own = static_cast<std::size_t>(transport.rank()) * bytes;
  copy_unless_same(arguments.out + own, arguments.in + own, bytes);

  const auto task = [&](std::size_t row) {
    return run_row(transport, arguments, static_cast<int>(row), scratch.bytes().subspan(row * kept, kept));
  };
  std::array<Task<>, most_rows> tasks{task(0), task(1), task(2), task(3), task(4), task(5), task(6), task(7)};
  co_await when_all(std::span(tasks).first(rows));
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "scattered",
    .summary = "several pairs of ranks swap their blocks at a time: medium and long blocks, many ranks",
    .source = "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), 2005",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::alltoall_scattered
