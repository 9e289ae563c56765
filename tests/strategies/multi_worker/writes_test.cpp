// SPDX-License-Identifier: Apache-2.0
// Workers that do not make, write or read the same variables in the same way.
#include "multi_worker/multi_worker.hpp"

#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/variable.hpp>

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using Aggregation = VariableAggregation;

class WorkersWrites : public MultiWorker {
 protected:
  void SetUp() override {
    if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  }
  [[nodiscard]] static bool is_last() { return job_rank() == job_size() - 1; }
  /// The last worker makes one call, the others another: all are told both.
  template <class Most, class Last>
  void expect_told(const std::string& most_says, const std::string& last_says, const Most& most, const Last& last) {
    const Outcome outcome = outcome_of([&] { is_last() ? last() : most(); });
    EXPECT_EQ(outcome.code, ErrorCode::mismatch) << outcome.text;
    EXPECT_THAT(outcome.text, AllOf(HasSubstr(most_says), HasSubstr(last_says)));
    expect_works(several_);
  }
  /// The same in runs.
  template <class Most, class Last>
  void expect_told_in_run(const std::string& most_says, const std::string& last_says, const Most& most,
                          const Last& last) {
    expect_told(
        most_says, last_says, [&] { several_.run(most); }, [&] { several_.run(last); });
  }

  MultiWorkerMirroredStrategy several_ = strategy();
  ContextGuard scope_ = several_.scope();
};
INSTANTIATE_TEST_SUITE_P(ReplicasOfEachWorker, WorkersWrites, testing::Values(1, 2));

TEST_P(WorkersWrites, AreToldWithTheirVariablesAndTheirKinds) {
  const Variable<double> a(0, {.name = "a", .aggregation = Aggregation::sum});
  const Variable<double> b(0, {.name = "b", .aggregation = Aggregation::sum});
  const Variable<double> first(0, {.name = "first", .aggregation = Aggregation::only_first_replica});
  expect_told_in_run(
      "Variable::assign of \"b\"", "Variable::assign of \"a\"", [&] { b.assign(1); }, [&] { a.assign(1); });
  expect_told_in_run(
      "Variable::assign_add of \"a\"", "Variable::assign of \"a\"", [&] { a.assign_add(1); }, [&] { a.assign(1); });
  expect_told_in_run(
      "Variable::assign_sub of \"first\"", "Variable::assign of \"first\"", [&] { first.assign_sub(1); },
      [&] { first.assign(1); });
  const Variable<std::vector<double>> rows(std::vector<double>(3), {.name = "rows", .aggregation = Aggregation::sum});
  const IndexedSlices<std::vector<double>> row({1.0}, {0}, {3});
  expect_told_in_run(
      "Variable::scatter_add of \"rows\"", "Variable::scatter_sub of \"rows\"", [&] { rows.scatter_add(row); },
      [&] { rows.scatter_sub(row); });
  for (const Variable<double>& each : {a, b}) EXPECT_THAT(each.components(), Each(0));
  EXPECT_THAT(rows.components(), Each(std::vector<double>(3)));
}

TEST_P(WorkersWrites, OfOptimizersInAnotherOrderAreTold) {
  const Variable<double> a(0, {.name = "a"});
  const Variable<double> b(0, {.name = "b"});
  Sgd of_a{std::tuple(a), {.learning_rate = 1}};
  Sgd of_b{std::tuple(b), {.learning_rate = 1}};
  expect_told_in_run(
      "apply_gradients to \"a\"", "apply_gradients to \"b\"", [&] { of_a.apply_gradients({1.0}); },
      [&] { of_b.apply_gradients({1.0}); });
  EXPECT_THAT(a.components(), Each(0));
  several_.run([&] { of_a.apply_gradients({1.0}); });
  EXPECT_THAT(a.components(), Each(-replicas()));
}

TEST_P(WorkersWrites, VariablesReadInAnotherOrderAreTold) {
  const auto on_read = [](const char* name) {
    return Variable<double>(
        0, {.name = name, .synchronization = VariableSynchronization::on_read, .aggregation = Aggregation::sum});
  };
  const Variable<double> loss = on_read("loss");
  const Variable<double> hits = on_read("hits");
  several_.run([&] {
    loss.assign(1);
    hits.assign(100);
  });
  expect_told(
      "Variable::value of \"loss\"", "Variable::value of \"hits\"", [&] { std::ignore = loss.value(); },
      [&] { std::ignore = hits.value(); });
  EXPECT_EQ(loss.value(), replicas());
}

TEST_P(WorkersWrites, VariablesThatDifferInWhatTheyAreAreRefused) {
  const auto make = [](const VariableOptions& options) { return [options] { const Variable<double> v(0, options); }; };
  expect_told("with the aggregation sum", "with the aggregation mean",
              make({.name = "v", .aggregation = Aggregation::sum}),
              make({.name = "v", .aggregation = Aggregation::mean}));
  expect_told("worker 0 makes \"v\" of float64 () trainable", "makes \"v\" of float64 () not trainable",
              make({.name = "v"}), make({.name = "v", .trainable = false}));
  const std::string long_name(200, 'x');
  expect_told("xa\"", "xb\"", make({.name = long_name + "a"}), make({.name = long_name + "b"}));
}

TEST_P(WorkersWrites, VariablesHaveTheSameNumberAfterOneThatCouldNotBeMade) {
  for (int round = 0; round < 3; ++round) {
    const auto make = [&]() -> double {
      if (is_last()) throw std::runtime_error("no weights here");
      return 1;
    };
    EXPECT_THAT(thrown_text([&] { const Variable<double> v(make); }), HasSubstr("no weights here"));
    const Variable<double> v(0, {.name = "v", .aggregation = Aggregation::sum});
    several_.run([&] { v.assign(1); });
    EXPECT_EQ(v.value(), replicas());
  }
}

TEST_P(MultiWorker, ALongErrorIsToldToItsEnd) {
  const bool fails = job_rank() == job_size() - 1;
  for (const char* const memory : {"auto", "off"}) {
    const ScopedVariable shared("CHORUS_SHARED_MEMORY", memory);
    MultiWorkerMirroredStrategy fresh = strategy();
    const auto told = [&](std::size_t length) {
      return thrown_text([&] {
        fresh.run([&] {
          if (id() == replicas() - 1) throw std::runtime_error(std::string(length, 'x') + " remedy");
          std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1.0);
        });
      });
    };
    EXPECT_THAT(told(3000), HasSubstr(std::string(3000, 'x') + " remedy"));
    const std::string shortened = told(10000);
    EXPECT_THAT(shortened, HasSubstr("x remedy"));
    if (!fails) {
      EXPECT_THAT(shortened, HasSubstr("xxx...xxx"));
    }
    expect_works(fresh);
  }
}

TEST_P(WorkersWrites, ReplicasAreCalledByTheirNumbersAmongAll) {
  if (GetParam() == 1) GTEST_SKIP() << "needs two replicas of a worker";
  const int last = replicas() - 1;
  const std::string number = std::to_string(last);
  const auto text_of = [&](const auto& call) { return thrown_text([&] { several_.run(call); }); };
  EXPECT_THAT(text_of([&] { return std::vector<std::tuple<int>>(id() == last ? 2U : 1U); }),
              HasSubstr("only replica " + number + " has"));
  EXPECT_THAT(text_of([&] { const Variable<int> v(0, {.name = id() == last ? "last" : "v"}); }),
              HasSubstr("replica " + number + " makes \"last\""));
  const Variable<int> v(0, {.name = "v", .aggregation = Aggregation::sum});
  EXPECT_THAT(text_of([&] { id() == last ? v.assign(1) : v.assign_add(1); }),
              HasSubstr("replica " + number + " to Variable::assign of \"v\""));
}

}  // namespace
}  // namespace chorus::test
