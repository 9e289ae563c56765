// SPDX-License-Identifier: Apache-2.0
// Replicas that do not write the same variables in the same way: mirrored variables would drift apart.
#include "core/replicas.hpp"

#include <chorus/strategies/indexed_slices.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/tensor.hpp>
#include <chorus/strategies/variable.hpp>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using Aggregation = VariableAggregation;
using Values = std::vector<double>;

/// How a strategy of three replicas reduces.
struct Ops {
  const char* name;
  std::function<std::unique_ptr<CrossDeviceOps>()> make;
};
void PrintTo(const Ops& ops, std::ostream* out) { *out << ops.name; }

class Writes : public testing::TestWithParam<Ops> {
 protected:
  /// Replica 1 makes one call, the others another: `text` is told, and the strategy works afterwards.
  template <class Most, class One>
  void expect_told(const std::string& text, const Most& most, const One& one) {
    expect_error(ErrorCode::mismatch, text, [&] { strategy_.run([&] { id() == 1 ? one() : most(); }); });
    EXPECT_EQ(strategy_.run([] { return get_replica_context()->all_reduce(ReduceOp::sum, 1); })[1], 3);
  }

  MirroredStrategy strategy_ = mirrored(3, GetParam().make());
  ContextGuard scope_ = strategy_.scope();
};
INSTANTIATE_TEST_SUITE_P(Ops, Writes,
                         testing::Values(Ops{"collective", [] { return std::make_unique<CollectiveAllReduce>(); }},
                                         Ops{"one device", [] { return std::make_unique<ReductionToOneDevice>(); }},
                                         Ops{"hierarchical",
                                             [] { return std::make_unique<HierarchicalCopyAllReduce>(); }}));

TEST_P(Writes, InDifferentWaysAreTold) {
  for (const Aggregation aggregation : {Aggregation::sum, Aggregation::mean}) {
    const Variable<double> v(1, {.name = "v", .aggregation = aggregation});
    expect_told(
        "replica 0 to Variable::assign_add of \"v\", replica 1 to Variable::assign of \"v\"", [&] { v.assign_add(1); },
        [&] { v.assign(2); });
    expect_told(
        "replica 0 to Variable::assign_sub of \"v\", replica 1 to Variable::assign_add of \"v\"",
        [&] { v.assign_sub(1); }, [&] { v.assign_add(1); });
    EXPECT_THAT(v.components(), Each(1));
  }
}

TEST_P(Writes, OfTheFirstReplicaInDifferentWaysAreTold) {
  const Variable<double> v(1, {.name = "v", .aggregation = Aggregation::only_first_replica});
  const auto adds = [&] { v.assign_add(1); };
  const auto assigns = [&] { v.assign(2); };
  expect_told("replica 1 to Variable::assign of \"v\"", adds, assigns);  // replica 0 does not wait for the others
}

TEST_P(Writes, OfRowsInDifferentWaysAreTold) {
  const Variable<Values> v(Values(3, 1.0), {.name = "rows", .aggregation = Aggregation::sum});
  const IndexedSlices<Values> row({1.0}, {0}, {3});
  expect_told(
      "replica 0 to Variable::scatter_sub of \"rows\", replica 1 to Variable::scatter_add of \"rows\"",
      [&] { v.scatter_sub(row); }, [&] { v.scatter_add(row); });
  expect_told(
      "replica 0 to Variable::scatter_mul of \"rows\", replica 1 to Variable::scatter_div of \"rows\"",
      [&] { v.scatter_mul(row); }, [&] { v.scatter_div(row); });
  EXPECT_THAT(v.components(), Each(Values(3, 1.0)));
}

TEST_P(Writes, OfDifferentVariablesAreTold) {
  const Variable<double> a(0, {.name = "a", .aggregation = Aggregation::sum});
  const Variable<double> b(0, {.name = "b", .aggregation = Aggregation::sum});
  expect_told(
      "replica 0 to Variable::assign of \"b\", replica 1 to Variable::assign of \"a\"", [&] { b.assign(1); },
      [&] { a.assign(1); });
  const Variable<double> c(0, {.name = "b", .aggregation = Aggregation::sum});
  expect_told(
      "Variable::assign of \"b\"", [&] { b.assign(1); }, [&] { c.assign(1); });
  const IndexedSlices<Values> row({1.0}, {0}, {3});
  const Variable<Values> d(Values(3), {.name = "d", .aggregation = Aggregation::sum});
  const Variable<Values> e(Values(3), {.name = "e", .aggregation = Aggregation::sum});
  expect_told(
      "replica 0 to Variable::scatter_add of \"d\", replica 1 to Variable::scatter_add of \"e\"",
      [&] { d.scatter_add(row); }, [&] { e.scatter_add(row); });
  for (const Variable<double>& each : {a, b, c}) EXPECT_THAT(each.components(), Each(0));
  for (const Variable<Values>& each : {d, e}) EXPECT_THAT(each.components(), Each(Values(3)));
}

TEST_P(Writes, ByOptimizersInAnotherOrderAreTold) {
  const Variable<double> a(0, {.name = "a"});
  const Variable<double> b(0, {.name = "b"});
  Sgd of_a{std::tuple(a), {.learning_rate = 1}};
  Sgd of_both{std::tuple(a, b), {.learning_rate = 1}};
  Sgd of_b{std::tuple(b), {.learning_rate = 1}};
  expect_told(
      "replica 0 to apply_gradients to \"b\", replica 1 to apply_gradients to \"a\"",
      [&] { of_b.apply_gradients({10.0}); }, [&] { of_a.apply_gradients({1.0}); });
  expect_told(
      "replica 0 to apply_gradients to \"a\", \"b\", replica 1 to apply_gradients to \"a\"",
      [&] {
        of_both.apply_gradients({1.0, 1.0});
      },
      [&] { of_a.apply_gradients({1.0}); });
  expect_told(
      "replica 0 to apply_gradients to \"a\" (clipped after the reduction, clip_norm ",
      [&] { of_a.apply_gradients({1.0}, {.clipping = Clipping::after_reduction, .clip_norm = 0.5}); },
      [&] { of_a.apply_gradients({1.0}); });
  expect_told(
      "replica 0 to apply_gradients to \"a\", replica 1 to all_reduce by sum", [&] { of_a.apply_gradients({1.0}); },
      [] { std::ignore = get_replica_context()->all_reduce(ReduceOp::sum, 1.0); });
  EXPECT_THAT(a.components(), Each(0));
  EXPECT_THAT(b.components(), Each(0));
}

TEST_P(Writes, OfRowsByDifferentOptimizersAreTold) {
  const Variable<Values> a(Values(3), {.name = "a"});
  const Variable<Values> b(Values(3), {.name = "b"});
  Sgd of_a{std::tuple(a)};
  Sgd of_b{std::tuple(b)};
  const std::tuple row(IndexedSlices<Values>({1.0}, {0}, {3}));
  expect_told(
      "replica 0 to apply_gradients to \"a\", replica 1 to apply_gradients to \"b\"",
      [&] { of_a.apply_gradients(row); }, [&] { of_b.apply_gradients(row); });
  EXPECT_THAT(a.components(), Each(Values(3)));
}

TEST_P(Writes, AndReductionsByDifferentOperationsAreTold) {
  const auto by = [](ReduceOp op) { return [op] { std::ignore = get_replica_context()->all_reduce(op, 1.0); }; };
  expect_told("replica 0 to all_reduce by sum, replica 1 to all_reduce by max", by(ReduceOp::sum), by(ReduceOp::max));
}

TEST(Making, VariablesThatDifferInWhatTheyAreIsRefused) {
  MirroredStrategy strategy = mirrored(3);
  const auto scope = strategy.scope();
  const auto expect_refused = [&](const std::string& text, const VariableOptions& most, const VariableOptions& one) {
    expect_error(ErrorCode::mismatch, text,
                 [&] { strategy.run([&] { const Variable<double> v(0.0, id() == 1 ? one : most); }); });
  };
  expect_refused(
      "replica 0 makes \"v\" of float64 () with the aggregation sum, replica 1 makes \"v\" of float64 () "
      "with the aggregation mean",
      {.name = "v", .aggregation = Aggregation::sum}, {.name = "v", .aggregation = Aggregation::mean});
  expect_refused("with the synchronization on_read", {.name = "v", .aggregation = Aggregation::sum, .trainable = false},
                 {.name = "v",
                  .synchronization = VariableSynchronization::on_read,
                  .aggregation = Aggregation::sum,
                  .trainable = false});
  expect_refused("trainable, replica 1 makes \"v\" of float64 () not trainable", {.name = "v"},
                 {.name = "v", .trainable = false});
  const std::string long_name(200, 'x');
  expect_refused("xxx...xxx", {.name = long_name + "a"}, {.name = long_name + "b"});
  expect_refused("whose name or shape differs in what is left out here", {.name = long_name + "a" + long_name},
                 {.name = long_name + "b" + long_name});
}

TEST(Making, ManyDimensionsAreAllCompared) {
  MirroredStrategy strategy = mirrored(2);
  const auto make = [] {
    const Variable<Tensor<float, 9>> v(Tensor<float, 9>({1, 1, 1, 1, 1, 1, 1, 1, static_cast<std::size_t>(1 + id())}));
  };
  expect_error(ErrorCode::mismatch, "differs in what is left out here", [&] { strategy.run(make); });
}

}  // namespace
}  // namespace chorus::test
