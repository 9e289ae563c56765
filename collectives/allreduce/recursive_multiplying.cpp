// SPDX-License-Identifier: Apache-2.0
//
// Recursive multiplying: as recursive doubling, but in each step four ranks give each other all they have.
//
// With p = 8 and the vector of rank r written r:
//
//            rank 0    rank 1    rank 2    rank 3    rank 4    rank 5    rank 6    rank 7
//   start    0         1         2         3         4         5         6         7
//   step 1   0123      0123      0123      0123      4567      4567      4567      4567
//   step 2   01234567                                                                       0 with 4, 1 with 5, ...
//
// All of a group reduce in the order of their ranks, so that all ranks get the same bits. Best for short vectors where
// messages take their time on the way and not to be sent: half the steps of `recursive_doubling`, with three messages
// at a time, so 3/2 as many bytes. The last step is of two where log2(p) is odd. Where p is no power of two (Fold),
// ranks 1, 3, ... first give their vectors to their left neighbours and get the result from them: two more messages.

#include "algorithm.hpp"
#include "exchanges.hpp"
#include "fold.hpp"
#include "reduction.hpp"

#include <algorithm>
#include <array>

namespace chorus::allreduce_recursive_multiplying {
namespace {

constexpr int radix = 4;

/// How many give each other what they have, where neighbours among them are so far apart.
int group_of(int distance, int core) { return std::min(radix, core / distance); }

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const int core = Fold::core_of(problem.ranks);
  const bool folds = core < problem.ranks;
  const auto all = static_cast<double>(problem.call.bytes());
  Traffic traffic{.shared = {}, .messages = {}};
  if (folds) traffic.messages = {.messages = 2, .bytes = all, .reduced = all};
  for (int distance = 1; distance < core; distance *= radix) {
    const int group = group_of(distance, core);
    LevelTraffic& level = folds ? traffic.messages : level_of(traffic, problem, distance * (group - 1));
    level.messages += group - 1;
    level.bytes += (group - 1) * all;
    level.reduced += (group - 1) * all;
    LevelTraffic& together = &level == &traffic.messages ? traffic.together : traffic.inside_together;
    together.messages += group - 2;
  }
  return traffic;
}

Task<> run(Transport& transport, Arguments arguments) {
  const Reduction reduction(arguments);
  const Fold fold(transport.rank(), transport.size());
  const Bytes data(arguments.out, arguments.call.bytes());
  const Scratch scratch = transport.scratch((radix - 1) * data.size());

  copy_unless_same(arguments.out, arguments.in, data.size());
  if (fold.paired()) co_await fold_in(transport, fold, reduction, data, scratch.bytes().first(data.size()));
  for (int distance = 1; distance < fold.core() && !fold.sits_out(); distance *= radix) {
    const int group = group_of(distance, fold.core());
    const int digit = fold.place() / distance % group;
    std::array<const std::byte*, radix> vectors{};
    std::array<Envelope, radix - 1> exchanges{};
    for (int other = 0, place = fold.place() - digit * distance, i = 0; other < group; ++other, place += distance) {
      vectors[static_cast<std::size_t>(other)] = data.data();
      if (other == digit) continue;
      const Bytes incoming = scratch.bytes().subspan(static_cast<std::size_t>(i) * data.size(), data.size());
      vectors[static_cast<std::size_t>(other)] = incoming.data();
      const int peer = fold.rank_at(place);
      exchanges[static_cast<std::size_t>(i++)] = {data, peer, incoming, peer, 0, Where::here()};
    }
    co_await three_at_once(transport, exchanges);
    reduction.all(data.data(), std::span(vectors).first(static_cast<std::size_t>(group)), data.size());
  }
  if (fold.paired()) co_await fold_out(transport, fold, data);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "recursive_multiplying",
    .summary = "four ranks at a time swap whole vectors: half the steps of recursive doubling",
    .source = "Wilkins et al., CLUSTER 2023 (generalized collective algorithms)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::allreduce_recursive_multiplying
