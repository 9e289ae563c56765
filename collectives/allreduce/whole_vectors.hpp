// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "fold.hpp"
#include "reduction.hpp"
#include "swing.hpp"

#include <bit>

namespace chorus::allreduce_whole_vectors {

// In each step two ranks swap all they have and both reduce it in the same order; for a power of two ranks, to which
// others fold.

template <class Pairs>
Traffic traffic(const Problem& problem) {
  const int core = Fold::core_of(problem.ranks);
  const bool folds = core < problem.ranks;
  const auto all = static_cast<double>(problem.call.bytes());
  Traffic traffic{.shared = {}, .messages = {}};
  if (folds) traffic.messages = {.messages = 2, .bytes = all, .reduced = all};
  for (int step = 0; step < std::countr_zero(static_cast<unsigned>(core)); ++step) {
    LevelTraffic& level = folds ? traffic.messages : level_of(traffic, problem, Pairs::reach(step));
    level.messages += 1;
    level.bytes += all;
    level.reduced += all;
  }
  return traffic;
}

template <class Pairs>
Task<> run(Transport& transport, Arguments arguments) {
  const Reduction reduction(arguments);
  const Fold fold(transport.rank(), transport.size());
  const int steps = std::countr_zero(static_cast<unsigned>(fold.core()));
  const int number = Pairs::number(fold.place(), fold.core());
  const Bytes data(arguments.out, arguments.call.bytes());
  const Scratch scratch = transport.scratch(data.size());
  const Bytes incoming = scratch.bytes();

  copy_unless_same(arguments.out, arguments.in, data.size());
  if (fold.paired()) co_await fold_in(transport, fold, reduction, data, incoming);
  for (int i = 0; i < steps && !fold.sits_out(); ++i) {
    const int step = Pairs::nearest_first ? i : steps - 1 - i;
    const int peer = fold.rank_at(Pairs::peer(fold.place(), step, fold.core()));
    co_await transport.sendrecv(data, peer, incoming, peer);
    if (((number >> step) & 1) != 0) {
      reduction.into_right(incoming, data);
    } else {
      reduction.into_left(data, incoming);
    }
  }
  if (fold.paired()) co_await fold_out(transport, fold, data);
}

}  // namespace chorus::allreduce_whole_vectors
