// SPDX-License-Identifier: Apache-2.0
//
// Pipelined tree reduction: the pipelined tree broadcast backwards; each rank joins a segment of its children's sums to
// its own and passes the sum on while the next segments come.
//
// With p = 5, root 0, two children a rank (1 and 4 of 0, 2 and 3 of 1) and the segments A, B and C:
//
//   round 1                1 <-A- 2 3
//   round 2   0 <-A- 1 4   1 <-B- 2 3
//   round 3   0 <-B- 1 4   1 <-C- 2 3
//   round 4   0 <-C- 1 4
//
// Best for long vectors: each rank sends the vector once, and reduces as many as it has children. With one child a rank
// the tree is a chain, of p-1 steps for the first segment; with d children it is log_d(p) of d segments each. How many
// children and segments the model says. For another root the ranks are counted from it.

#include "blocks.hpp"
#include "exchanges.hpp"
#include "reduction.hpp"
#include "tree_pipeline.hpp"

#include <array>
#include <optional>
#include <span>

namespace chorus::reduce_pipelined_tree {
namespace {

bool applies(const Problem& problem) { return problem.call.commutes(); }

/// What comes up is what goes down, and reduced; but each rank sends to its parent alone, who takes all in.
Traffic traffic(const Problem& problem) {
  Traffic traffic = TreePipeline::best(problem.call, problem.ranks, problem.links).traffic(problem);
  traffic.messages.reduced = traffic.messages.bytes;
  traffic.waited.reduced = traffic.waited.bytes;
  traffic.waited.bytes += traffic.together.bytes;
  traffic.messages.bytes -= traffic.together.bytes;
  traffic.together.bytes = 0;
  return traffic;
}

/// One call on one rank.
class UpTree {
 public:
  UpTree(Transport& transport, const Arguments& arguments)
      : transport_(transport),
        arguments_(arguments),
        pipeline_(TreePipeline::best(arguments.call, transport.size(), arguments.links)),
        rank_(transport, arguments.call.root, pipeline_.degree),
        segments_(arguments.call, pipeline_.segments),
        ahead_(TreePipeline::ahead(segments_.longest_bytes())),
        reduction_(arguments),
        scratch_(transport.scratch(static_cast<std::size_t>(2 * rank_.children() + 1) * segments_.longest_bytes())) {}

  [[nodiscard]] int segments() const noexcept { return pipeline_.segments; }

  /// Waits for a segment's sums of the children, the first segment first; the next one is on its way meanwhile, too.
  [[nodiscard]] Task<> comes(int number) {
    for (int first = 0; number == 0 && first < ahead_; ++first) post(first);
    for (int i = 0; i < rank_.children(); ++i) co_await incoming(i, number)->comes();
  }

  /// Sends the sum of a segment to the parent, and lets another one come where that came in.
  [[nodiscard]] Task<> pass_on(int number) {
    const std::byte* const sum = sum_of(number);
    post(number + ahead_);
    if (!rank_.is_root()) co_await transport_.send({sum, segments_.bytes(number)}, rank_.parent());
  }

 private:
  void post(int number) {
    for (int i = 0; number < segments() && i < rank_.children(); ++i) {
      const Bytes segment(place(i, number), segments_.bytes(number));
      incoming(i, number).emplace(transport_, segment, rank_.child(i), Where::here());
    }
  }

  /// Of this rank's subtree.
  [[nodiscard]] const std::byte* sum_of(int number) const {
    const std::byte* const own = arguments_.in + segments_.offset(number);
    std::byte* const sum = rank_.is_root() ? arguments_.out + segments_.offset(number) : place(rank_.children(), 0);
    if (rank_.children() == 0) {
      if (rank_.is_root()) copy_unless_same(sum, own, segments_.bytes(number));
      return own;
    }
    std::array<const std::byte*, RangeTree::highest_degree + 1> vectors = {own};
    const auto children = static_cast<std::size_t>(rank_.children());
    for (std::size_t i = 0; i < children; ++i) vectors[i + 1] = place(static_cast<int>(i), number);
    reduction_.all(sum, std::span(vectors).first(children + 1), segments_.bytes(number));
    return sum;
  }

  /// Where the segments of child i come in, two at a time; behind those of all children: the sum.
  [[nodiscard]] std::byte* place(int i, int number) const noexcept {
    return scratch_.data() + static_cast<std::size_t>(2 * i + number % 2) * segments_.longest_bytes();
  }
  [[nodiscard]] std::optional<PostedReceive>& incoming(int i, int number) {
    return incoming_[static_cast<std::size_t>(2 * i + number % 2)];
  }

  Transport& transport_;
  const Arguments& arguments_;
  TreePipeline pipeline_;
  TreeRank rank_;
  Blocks segments_;
  int ahead_;
  Reduction reduction_;
  Scratch scratch_;
  std::array<std::optional<PostedReceive>, std::size_t{2} * RangeTree::highest_degree> incoming_;
};

Task<> run(Transport& transport, Arguments arguments) {
  UpTree tree(transport, arguments);
  for (int number = 0; number < tree.segments(); ++number) {
    co_await tree.comes(number);
    co_await tree.pass_on(number);
  }
}

}  // namespace

extern const Algorithm algorithm;
const Algorithm algorithm{
    .name = "pipelined_tree",
    .summary =
        "sums come up a chain or a tree of few children in segments, passed on while the next ones come: long data",
    .source =
        "Barnett et al., Scalable High Performance Computing Conf., 1994 (chain); Sanders, Speck and Traeff, "
        "Parallel Comput. 35(12), 2009 (pipelined trees); as chain, pipeline and binary of Open MPI's tuned",
    .applies = applies,
    .traffic = traffic,
    .run = run,
};

}  // namespace chorus::reduce_pipelined_tree
