// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "halving.hpp"

namespace chorus::allreduce_by_halves {

// Reduce-scatter by halving the vector, then allgather by the same steps backwards; for a power of two ranks, to which
// others fold.

inline Traffic traffic(const Problem& problem) {
  const int core = Fold::core_of(problem.ranks);
  const bool folds = core < problem.ranks;
  const Halving<Doubling> halving(problem.call, core);
  const std::size_t all = problem.call.bytes();
  const std::size_t folded = folds ? all : 0;
  // Place 0 keeps the longest pieces, whoever its partners are, and has a partner to fold if any has. It sends all but
  // its own block on the way out, and on the way back what it kept.
  const std::size_t kept = halving.kept_bytes();
  const std::size_t own = Blocks(problem.call, core).bytes(0);
  return {.shared = {},
          .messages = {.messages = 2.0 * halving.steps() + (folds ? 2 : 0),
                       .bytes = static_cast<double>(folded + all - own + kept),
                       .reduced = static_cast<double>(folded + kept)}};
}

template <class Pairs>
Task<> run(Transport& transport, Arguments arguments) {
  const Reduction reduction(arguments);
  const Fold fold(transport.rank(), transport.size());
  const Halving<Pairs> halving(arguments.call, fold.core());
  const Bytes data(arguments.out, arguments.call.bytes());
  const Scratch scratch = transport.scratch(data.size());

  copy_unless_same(arguments.out, arguments.in, data.size());
  co_await fold_in(transport, fold, reduction, data, scratch.bytes());
  if (!fold.sits_out()) {
    co_await halving_reduce_scatter(transport, fold, halving, reduction, data, scratch.bytes());
    co_await doubling_allgather(transport, fold, halving, data);
  }
  co_await fold_out(transport, fold, data);
}

}  // namespace chorus::allreduce_by_halves
