// SPDX-License-Identifier: Apache-2.0
//
// Linear gather: every rank sends its block to the root, which receives them one after another.
//
// Good for long blocks: no rank passes on what is not its own, and each block goes straight to its place. The root's
// p-1 messages make it slow for short blocks on many ranks.

#include "algorithm.hpp"
#include "reduction.hpp"

#include <algorithm>

namespace chorus::gather_linear {
namespace {

bool applies(const Problem& /*problem*/) { return true; }

Traffic traffic(const Problem& problem) {
  const auto bytes = static_cast<double>(problem.call.bytes());
  const double others = problem.ranks - 1;
  return {.shared = {},
          .messages = {.messages = others, .bytes = others > 0 ? bytes : 0, .reduced = 0},
          .waited = {.messages = 0, .bytes = std::max(0.0, others - 1) * bytes, .reduced = 0}};
}

Task<> run(Transport& transport, Arguments arguments) {
  const int root = arguments.call.root;
  const std::size_t bytes = arguments.call.bytes();
  if (transport.rank() != root) {
    const ConstBytes own(arguments.in, bytes);
    co_await transport.send(own, root);
    co_return;
  }
  const auto block = [&](int rank) { return Bytes(arguments.out + static_cast<std::size_t>(rank) * bytes, bytes); };
  if (arguments.in != arguments.out) copy_unless_same(block(root).data(), arguments.in, bytes);
  for (int step = 1; step < transport.size(); ++step) {
    const int peer = (root + step) % transport.size();
    co_await transport.receive(block(peer), peer);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "linear",
    .summary = "every rank sends its block to the root: nothing is passed on, many messages for the root",
    .source =
        "Message Passing Interface Forum, MPI: A Message-Passing Interface Standard (the definition of MPI_Gather)",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::gather_linear
