// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "halving.hpp"

namespace chorus::allreduce_by_halves {

// Reduce-scatter by halving the vector, then allgather by the same steps backwards; for a power of two ranks, to which
// others fold.

template <class Pairs>
Traffic traffic(const Problem& problem) {
  const int core = Fold::core_of(problem.ranks);
  const bool folds = core < problem.ranks;
  const Halving<Pairs> halving(problem.call, core);
  const auto all = static_cast<double>(problem.call.bytes());
  Traffic traffic{.shared = {}, .messages = {}, .to_next = halved_to_next};
  if (folds) traffic.messages = {.messages = 2, .bytes = all, .reduced = all};
  // Place 0 keeps the longest pieces, whoever its partners are, and has a partner to fold if any has. In each step it
  // sends what it does not keep on the way out, and on the way back what it kept.
  for (int step = 0; step < halving.steps(); ++step) {
    LevelTraffic& level = folds ? traffic.messages : level_of(traffic, problem, Pairs::reach(step));
    level.messages += 2;
    level.bytes += static_cast<double>(halving.longest_piece(step));
    level.reduced += static_cast<double>(halving.longest_piece(step + 1));
  }
  return traffic;
}

template <class Pairs>
Task<> run(Transport& transport, Arguments arguments) {
  const Reduction reduction(arguments);
  const Fold fold(transport.rank(), transport.size());
  const Halving<Pairs> halving(arguments.call, fold.core());
  const Bytes data(arguments.out, arguments.call.bytes());
  const Scratch scratch = transport.scratch(data.size());

  copy_unless_same(arguments.out, arguments.in, data.size());
  if (fold.paired()) co_await fold_in(transport, fold, reduction, data, scratch.bytes());
  if (!fold.sits_out()) {
    co_await halving_reduce_scatter(transport, fold, halving, reduction, data, scratch.bytes());
    co_await doubling_allgather(transport, fold, halving, data);
  }
  if (fold.paired()) co_await fold_out(transport, fold, data);
}

}  // namespace chorus::allreduce_by_halves
