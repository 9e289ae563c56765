// SPDX-License-Identifier: Apache-2.0
//
// Linear scatter: the root sends every rank its block, one after another.
//
// Good for long blocks: no rank passes on what is not its own, and each block comes straight from its place. The root's
// p-1 messages make it slow for short blocks on many ranks.

#include "algorithm.hpp"
#include "reduction.hpp"

namespace chorus::scatter_linear {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const double others = problem.ranks - 1;
  const double bytes = others * static_cast<double>(problem.call.bytes());
  return {.shared = {}, .messages = {.messages = others, .bytes = bytes, .reduced = 0}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int root = arguments.call.root;
  const std::size_t bytes = arguments.call.bytes();
  if (transport.rank() != root) {
    const Bytes own(arguments.out, bytes);
    co_await transport.receive(own, root);
    co_return;
  }
  const auto block = [&](int rank) { return ConstBytes(arguments.in + static_cast<std::size_t>(rank) * bytes, bytes); };
  for (int step = 1; step < transport.size(); ++step) {
    const int peer = (root + step) % transport.size();
    co_await transport.send(block(peer), peer);
  }
  if (arguments.in != arguments.out) copy_unless_same(arguments.out, block(root).data(), bytes);
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "linear",
    .summary = "the root sends every rank its block: nothing is passed on, many messages for the root",
    .source =
        "Message Passing Interface Forum, MPI: A Message-Passing Interface Standard (the definition of MPI_Scatter)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::scatter_linear
