// SPDX-License-Identifier: Apache-2.0
#include "choose.hpp"
#include "tunings.hpp"

#include "base/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>

namespace chorus {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A call on ranks of one node that has shared memory, MPI and all.
Problem on_one_node(Collective collective, std::size_t count, int ranks = 4) {
  return {.call = {collective, DataType::float32, ReduceOp::sum, 0, count},
          .ranks = ranks,
          .nodes = 1,
          .largest_node = ranks,
          .shared = true,
          .slot_bytes = 65536,
          .native = true};
}

Problem across_nodes(Collective collective, std::size_t count, int ranks = 8, int nodes = 4) {
  return {.call = {collective, DataType::float32, ReduceOp::sum, 0, count},
          .ranks = ranks,
          .nodes = nodes,
          .largest_node = ranks / nodes,
          .shared = false,
          .slot_bytes = 0,
          .native = true};
}

std::string refusal(const Problem& problem, const Wishes& wishes, ErrorCode code) {
  try {
    static_cast<void>(choose(problem, wishes, {}));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.message();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(Choose, ObeysTheOptionBeforeAllElse) {
  Tuning tuning;
  tuning.measured = {{Collective::allreduce, "native", 4, 1, 4, 4096, 0.001}};
  const Choice choice =
      choose(on_one_node(Collective::allreduce, 1024), {.option = "ring", .environment = "rabenseifner"}, tuning);
  EXPECT_EQ(choice.algorithm->name, "ring");
  EXPECT_EQ(choice.reason, "named by the call");
}

TEST(Choose, ObeysTheEnvironmentBeforeTheMeasurements) {
  Tuning tuning;
  tuning.measured = {{Collective::allreduce, "native", 4, 1, 4, 4096, 0.001}};
  const Choice choice =
      choose(on_one_node(Collective::allreduce, 1024), {.option = {}, .environment = "rabenseifner"}, tuning);
  EXPECT_EQ(choice.algorithm->name, "rabenseifner");
  EXPECT_EQ(choice.reason, "named by the environment");
}

TEST(Choose, TakesTheFastestMeasuredBeforeTheModel) {
  const Problem problem = on_one_node(Collective::allreduce, 1024);
  const std::string_view by_model = choose(problem, {}, {}).algorithm->name;
  ASSERT_NE(by_model, "ring");
  Tuning tuning;
  tuning.measured = {{Collective::allreduce, "ring", 4, 1, 4, 4096, 5e6},
                     {Collective::allreduce, "native", 4, 1, 4, 4096, 9e6}};
  const Choice choice = choose(problem, {}, tuning);
  EXPECT_EQ(choice.algorithm->name, "ring") << "although the model promises less for " << by_model;
  EXPECT_EQ(choice.reason, "fastest as measured in the tuning file");
  EXPECT_EQ(choose(on_one_node(Collective::allreduce, 1U << 20U), {}, tuning).reason,
            "fastest as predicted by the model")
      << "that size was not measured";
}

TEST(Choose, TakesTheFastestByTheModelLast) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 22U}) {
    const Choice choice = choose(on_one_node(Collective::allreduce, count), {}, {});
    EXPECT_EQ(choice.reason, "fastest as predicted by the model");
    for (const Candidate& candidate : choice.candidates) {
      EXPECT_TRUE(candidate.algorithm != choice.algorithm || candidate.applies);
      if (!candidate.applies) continue;
      const auto chosen = std::ranges::find(choice.candidates, choice.algorithm, &Candidate::algorithm);
      EXPECT_LE(chosen->predicted_us, candidate.predicted_us) << candidate.algorithm->name << ", " << count;
    }
  }
}

TEST(Choose, RefusesAnOptionThatNamesNoAlgorithm) {
  EXPECT_THAT(refusal(on_one_node(Collective::allreduce, 1), {.option = "rnig", .environment = {}},
                      ErrorCode::invalid_argument),
              AllOf(HasSubstr("option algorithm names no algorithm of allreduce"), HasSubstr("\"rnig\""),
                    HasSubstr("did you mean \"ring\"?"), HasSubstr("rabenseifner")));
  EXPECT_THAT(
      refusal(on_one_node(Collective::barrier, 0), {.option = "ring", .environment = {}}, ErrorCode::invalid_argument),
      HasSubstr("option algorithm names no algorithm of barrier"))
      << "that is one of another collective";
}

TEST(Choose, RefusesAnOptionThatDoesNotApply) {
  EXPECT_THAT(
      refusal(across_nodes(Collective::allreduce, 1), {.option = "line", .environment = {}}, ErrorCode::not_supported),
      AllOf(HasSubstr("allreduce of 1 float32 by sum"), HasSubstr("line"), HasSubstr("8 ranks")));
}

TEST(Choose, RefusesAnEnvironmentThatNamesNoAlgorithm) {
  EXPECT_THAT(refusal(on_one_node(Collective::bcast, 1), {.option = {}, .environment = "binominal"},
                      ErrorCode::invalid_environment),
              AllOf(HasSubstr("the environment variable CHORUS_BCAST names no algorithm of bcast"),
                    HasSubstr("did you mean \"binomial\"?")));
}

TEST(Choose, TakesNothingForDeterministicCallsThatAnotherRunWouldMeasureAnew) {
  const Tunings slow({}, {.cached = 1, .streamed = 1}, {}, false);
  const Tunings fast({}, {.cached = 20, .streamed = 1}, {}, false);
  bool pace_matters = false;
  for (const Collective collective : {Collective::reduce, Collective::allreduce, Collective::reduce_scatter_block}) {
    for (std::size_t count = 1; count <= 1U << 24U; count *= 2) {
      Problem problem = on_one_node(collective, count);
      const auto chosen = [&](const Tunings& tunings) {
        return choose(problem, {}, tunings.of(problem.call)).algorithm;
      };
      pace_matters |= chosen(slow) != chosen(fast);
      problem.call.repeatability = Repeatability::deterministic;
      EXPECT_EQ(chosen(slow), chosen(fast)) << describe(problem.call);
    }
  }
  EXPECT_TRUE(pace_matters) << "to calls that are not";
}

TEST(Choose, KnowsThatReproducibleSumsAreLongWhereTheyAreCarried) {
  Problem problem = on_one_node(Collective::allreduce, 10'000);
  problem.call.repeatability = Repeatability::reproducible;
  problem.native = false;
  Tuning tuning;
  tuning.measured = {{Collective::allreduce, "ring", 4, 1, 4, 40'000, 0.001}};  // of plain sums
  const Choice choice = choose(problem, {}, tuning);
  EXPECT_TRUE(choice.algorithm->at_once) << choice.algorithm->name;
  problem.call.repeatability = Repeatability::none;
  const Choice plain = choose(problem, {}, {});
  for (std::size_t i = 0; i < plain.candidates.size(); ++i) {
    if (!plain.candidates[i].applies || plain.candidates[i].algorithm->at_once) continue;
    EXPECT_GT(choice.candidates[i].predicted_us, 5 * plain.candidates[i].predicted_us);
  }
}

TEST(Choose, PassesOverAnEnvironmentThatDoesNotApply) {
  const Choice choice = choose(across_nodes(Collective::allreduce, 1), {.option = {}, .environment = "line"}, {});
  EXPECT_NE(choice.algorithm->name, "line");
  EXPECT_TRUE(choice.algorithm->applies(across_nodes(Collective::allreduce, 1)));
  EXPECT_EQ(choice.reason, "CHORUS_ALLREDUCE=line does not apply to this call; fastest as predicted by the model");
}

/// Problems of all shapes, with and without shared memory and MPI.
template <class Visit>
void for_every_problem(Visit visit) {
  for (int kind = 0; kind < collective_count; ++kind) {
    for (const int ranks : {1, 2, 3, 4, 5, 8, 13, 64, 1000}) {
      for (const std::size_t count : {0, 1, 2, 7, 1000, 65536, 10'000'000}) {
        for (const bool native : {false, true}) {
          Problem near = on_one_node(static_cast<Collective>(kind), count, ranks);
          Problem far = across_nodes(static_cast<Collective>(kind), count, ranks, ranks);
          near.native = far.native = native;
          visit(near);
          visit(far);
        }
      }
    }
  }
}

TEST(Choose, TakesNothingOfMpisThatIsNotKnownToBeFaster) {
  for_every_problem([](const Problem& problem) {
    if (problem.ranks == 1) return;
    EXPECT_NE(choose(problem, {}, {}).algorithm->name, "native")
        << describe(problem.call) << " on " << problem.ranks << " ranks, " << problem.nodes << " nodes";
  });
}

TEST(Choose, TakesMpisOwnBetweenNodesWhereItWasMeasuredToBeFaster) {
  Tuning tuning;
  tuning.measured = {{Collective::bcast, "native", 8, 4, 2, 8, 3}, {Collective::bcast, "binomial", 8, 4, 2, 8, 4}};
  EXPECT_EQ(choose(across_nodes(Collective::bcast, 2), {}, tuning).algorithm->name, "native");
}

TEST(Choose, TakesMpisOwnOfUnknownLengthsWhereItIsNamedAlone) {
  for (const Collective collective :
       {Collective::gatherv, Collective::scatterv, Collective::alltoallv, Collective::alltoallw}) {
    Tuning tuning;
    tuning.measured = {{collective, "native", 8, 4, 2, 0, 0.001}};
    const Problem problem = across_nodes(collective, 0);
    const Choice choice = choose(problem, {}, tuning);
    EXPECT_NE(choice.algorithm->name, "native") << name(collective);
    EXPECT_EQ(choice.reason, "fastest as predicted by the model") << "nothing else was measured";
    EXPECT_EQ(choose(problem, {.option = "native", .environment = {}}, tuning).algorithm->name, "native");
    EXPECT_EQ(choose(problem, {.option = {}, .environment = "native"}, tuning).algorithm->name, "native");
  }
}

TEST(Choose, FindsAnAlgorithmThatAppliesForEveryProblem) {
  for_every_problem([](const Problem& problem) {
    const Choice choice = choose(problem, {}, {});
    ASSERT_NE(choice.algorithm, nullptr);
    EXPECT_TRUE(choice.algorithm->applies(problem))
        << describe(problem.call) << " on " << problem.ranks << " ranks, " << problem.nodes << " nodes";
    EXPECT_EQ(choice.candidates.size(), algorithms(problem.call.collective).size());
  });
}

TEST(Choose, AgreesForEqualProblems) {
  for_every_problem([](const Problem& problem) {
    const Problem equal = problem;
    const Tuning tuning;
    EXPECT_EQ(choose(problem, {}, tuning).algorithm, choose(equal, {}, Tuning(tuning)).algorithm);
  });
}

TEST(Choose, PredictsWithoutInfinitiesOrNegatives) {
  for_every_problem([](const Problem& problem) {
    for (const Candidate& candidate : choose(problem, {}, {}).candidates) {
      if (!candidate.applies) continue;
      EXPECT_TRUE(candidate.predicted_us >= 0 && candidate.predicted_us < 1e12)
          << candidate.algorithm->name << " of " << describe(problem.call) << " on " << problem.ranks
          << " ranks: " << candidate.predicted_us;
    }
  });
}

TEST(Choose, CountsOnOneRankTheCallAndTheCopy) {
  constexpr std::size_t count = 1U << 20U;
  const LinkModel links;
  const double copy_us = sizeof(float) * count / links.shared.megabytes_per_second;
  for (int kind = 0; kind < collective_count; ++kind) {
    const auto collective = static_cast<Collective>(kind);
    if (counts_differ(collective)) continue;  // nothing is known of their lengths
    const bool copies = collective != Collective::barrier && collective != Collective::bcast;
    for (const bool native : {false, true}) {
      Problem problem = on_one_node(collective, collective == Collective::barrier ? 0 : count, 1);
      problem.native = native;
      double least_us = std::numeric_limits<double>::infinity();
      for (const Candidate& candidate : choose(problem, {}, {}).candidates) {
        if (candidate.applies) least_us = std::min(least_us, candidate.predicted_us);
      }
      EXPECT_GE(least_us, links.shared.latency_us + (copies ? copy_us : 0)) << describe(problem.call);
      EXPECT_LT(least_us, links.shared.latency_us + (copies ? copy_us : 0) + 1) << describe(problem.call);
    }
  }
}

TEST(LinkModel, AddsMessagesBytesAndReductionsOfBothLevels) {
  const LinkModel links{.shared = {.latency_us = 1, .megabytes_per_second = 10},
                        .shared_alone_megabytes_per_second = 30,
                        .shared_peer_us = 0.5,
                        .task_us = 100,
                        .node = {.latency_us = 2, .megabytes_per_second = 20},
                        .network = {.latency_us = 3, .megabytes_per_second = 40},
                        .further_message = 0.25,
                        .reduce_megabytes_per_second = 80};
  Traffic traffic{.shared = {.messages = 4, .bytes = 1000, .reduced = 800},
                  .messages = {.messages = 5, .bytes = 2000, .reduced = 1600}};
  Problem problem = on_one_node(Collective::allreduce, 1, 4);
  const double shared = 4 * (1 + 0.5 * 4) + 1000 / 10.0 + 800 / 80.0;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), shared + 5 * 2 + 2000 / 20.0 + 1600 / 80.0);
  problem.nodes = 2;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), shared + 5 * 3 + 2000 / (40.0 / 4) + 1600 / 80.0)
      << "4 ranks of a node share the network";
  traffic.lanes = 1;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), shared + 5 * 3 + 2000 / 40.0 + 1600 / 80.0);
  traffic.lanes = 2;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), shared + 5 * 3 + 2000 / (40.0 / 2) + 1600 / 80.0);
  traffic.inside = {.messages = 3, .bytes = 400, .reduced = 0};
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem),
                   shared + 5 * 3 + 2000 / (40.0 / 2) + 1600 / 80.0 + 3 * 2 + 400 / 20.0)
      << "phases inside the nodes send messages, too";
  traffic.overlap = 0.5;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem),
                   shared + 3 * 2 + 400 / 20.0 + (5 * 1.5 + 2000 / (40.0 / 2) + 1600 / 80.0) / 2)
      << "half of the messages are on their way meanwhile, which take less time, and of their latency half is hidden";
  traffic.overlap = 0;
  traffic.inside = {};
  traffic.lanes = 1;
  traffic.together = {.messages = 2};
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), shared + 3 * 3 + 2 * 3 / 4.0 + 2000 / 40.0 + 1600 / 80.0);
  problem.nodes = 1;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), shared + 3 * 2 + 2 * 3 / 4.0 + 2000 / 20.0 + 1600 / 80.0)
      << "to be sent and taken takes as long inside a node";
  LinkModel slow_to_send = links;
  slow_to_send.further_message = 0.9;
  EXPECT_DOUBLE_EQ(slow_to_send.microseconds(traffic, problem), shared + 5 * 2 + 2000 / 20.0 + 1600 / 80.0)
      << "and no longer than a message by itself";
  EXPECT_EQ(links.microseconds({}, problem), 0);
  EXPECT_DOUBLE_EQ(links.microseconds({.shared = {}, .alone = 90, .messages = {}}, problem), 90 / 30.0);
}

TEST(Traffic, OfPairsIsInsideTheNodesWhereTheyAreNear) {
  for (const auto& [collective, name, inside] :
       {std::tuple{Collective::reduce_scatter_block, "recursive_halving", 3 * 64.0},
        std::tuple{Collective::allgather, "recursive_doubling", 3 * 64.0},
        std::tuple{Collective::allreduce, "recursive_doubling", 2 * 64.0},
        std::tuple{Collective::allreduce, "rabenseifner", 64.0 + 32.0}}) {
    Problem problem = across_nodes(collective, 16, 16, 4);
    problem.smallest_node = problem.largest_node;
    const Algorithm& algorithm = **std::ranges::find(algorithms(collective), std::string_view(name), &Algorithm::name);
    const Traffic in_order = algorithm.traffic(problem);
    problem.in_order = false;
    const Traffic all = algorithm.traffic(problem);
    EXPECT_EQ(all.inside.bytes, 0) << name;
    EXPECT_EQ(in_order.inside.bytes, inside) << name;
    EXPECT_EQ(in_order.inside.messages, in_order.messages.messages) << name;
    EXPECT_EQ(in_order.inside.bytes + in_order.messages.bytes, all.messages.bytes) << name;
    EXPECT_EQ(in_order.inside.reduced + in_order.messages.reduced, all.messages.reduced) << name;
  }
}

TEST(LinkModel, LetsWhatGoesToTheNextRankLeaveANodeByOneAndGainFromShortWays) {
  LinkModel links;
  links.network = {.latency_us = 1, .megabytes_per_second = 100};
  links.network_by_all = {.latency_us = 5, .megabytes_per_second = 200};
  links.to_next_gain = 2;
  Problem problem = across_nodes(Collective::allgather, 10, 16, 4);
  problem.largest_node = 4;
  Traffic traffic{.shared = {}, .messages = {.messages = 3, .bytes = 3000}};
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), 3 * 5 + 3000 / 50.0);
  traffic.to_next = 0.5;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), 3 * 5 + 1500 / 50.0 + 1500 / 100.0);
  traffic.to_next = 1;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), 3 * 1 + 3000 / 200.0);
  problem.in_order = false;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), 3 * 5 + 3000 / 100.0) << "all ranks send to another node";
  const Algorithm& ring = **std::ranges::find(algorithms(Collective::allgather), "ring", &Algorithm::name);
  EXPECT_EQ(ring.traffic(problem).to_next, 1);
}

TEST(LinkModel, PrefersOfAlgorithmsThatTakeAsLongThoseWhoseLongestMessagesGoToTheNearest) {
  Problem problem = across_nodes(Collective::reduce_scatter_block, 1024, 16, 16);
  problem.smallest_node = problem.largest_node = 1;
  problem.native = false;
  EXPECT_EQ(fastest(problem, LinkModel()).name, "swing");
}

TEST(LinkModel, TakesLongMessagesByTheirOwnNumbers) {
  LinkModel links;
  links.node = {.latency_us = 1,
                .megabytes_per_second = 100,
                .long_from = 1000,
                .long_latency_us = 10,
                .long_megabytes_per_second = 1000};
  const Problem problem = on_one_node(Collective::allreduce, 1, 4);
  const auto time = [&](double messages, double bytes) {
    return links.microseconds({.shared = {}, .messages = {.messages = messages, .bytes = bytes}}, problem);
  };
  EXPECT_DOUBLE_EQ(time(4, 3600), 4 * 1 + 3600 / 100.0) << "of 900 bytes each";
  EXPECT_DOUBLE_EQ(time(3, 3600), 3 * 10 + 3600 / 1000.0) << "of 1200 bytes each";
}

TEST(LinkModel, LetsNoRankOfANodeSendMoreThanItsShareOfWhatAllSend) {
  LinkModel links;
  links.network = {.latency_us = 1, .megabytes_per_second = 100};
  links.network_by_all = {.latency_us = 5, .megabytes_per_second = 300};
  Problem problem = across_nodes(Collective::allreduce, 1, 8, 2);
  Traffic traffic{.shared = {}, .messages = {.messages = 2, .bytes = 1000}};
  problem.largest_node = 4;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), 2 * 5 + 1000 / 75.0);
  problem.largest_node = 2;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), 2 * 5 + 1000 / 100.0) << "no more than one rank can send";
  traffic.lanes = 1;
  EXPECT_DOUBLE_EQ(links.microseconds(traffic, problem), 2 * 1 + 1000 / 100.0);
}

TEST(LinkModel, ReachesThePhasesOfHierarchicalAlgorithms) {
  const std::span<const Algorithm* const> all = algorithms(Collective::allreduce);
  const Algorithm& hierarchical = **std::ranges::find(all, "hierarchical", &Algorithm::name);
  Problem problem = across_nodes(Collective::allreduce, 1U << 18U, 16, 8);
  problem.largest_node = 2;
  problem.slot_bytes = 65536;
  const auto messages = [&](const Link& network) {
    LinkModel links;
    links.network = {.latency_us = network.latency_us, .megabytes_per_second = network.megabytes_per_second};
    problem.links = &links;
    return hierarchical.traffic(problem).messages;
  };
  const LevelTraffic slow_to_begin = messages({.latency_us = 1e6, .megabytes_per_second = 1e6});
  const LevelTraffic slow_to_send = messages({.latency_us = 1e-3, .megabytes_per_second = 1});
  EXPECT_LT(slow_to_begin.messages, slow_to_send.messages);
  EXPECT_GT(slow_to_begin.bytes, slow_to_send.bytes);
}

}  // namespace
}  // namespace chorus
