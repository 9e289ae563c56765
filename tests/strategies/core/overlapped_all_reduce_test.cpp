// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/overlapped_all_reduce.hpp>
#include <chorus/strategies/strategy.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;

/// As a model with three layers has it.
struct Gradients {
  std::vector<float> input;
  std::map<std::string, double> hidden;
  std::vector<float> output;
};

/// Of this replica.
Gradients gradients_of(int replica) {
  return {std::vector<float>(300, 0.1F * static_cast<float>(replica + 1)),
          {{"bias", replica}, {"scale", 0.5 * replica}},
          std::vector<float>(50, 1.0F / static_cast<float>(replica + 3))};
}

void expect_equal(const Gradients& left, const Gradients& right) {
  EXPECT_EQ(left.input, right.input);
  EXPECT_EQ(left.hidden, right.hidden);
  EXPECT_EQ(left.output, right.output);
}

std::vector<std::unique_ptr<CrossDeviceOps>> every_ops() {
  std::vector<std::unique_ptr<CrossDeviceOps>> ops;
  ops.push_back(std::make_unique<CollectiveAllReduce>());
  ops.push_back(std::make_unique<HierarchicalCopyAllReduce>());
  return ops;
}

TEST_P(WithReplicas, OverlappedAllReduceHasTheBitsOfAllReduce) {
  for (std::unique_ptr<CrossDeviceOps>& ops : every_ops()) {
    MirroredStrategy strategy = mirrored(replicas(), std::move(ops));
    for (const std::size_t bytes_per_pack : {std::size_t{0}, std::size_t{1}, std::size_t{256}}) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::average, ReduceOp::max}) {
        strategy.run([&] {
          const CommunicationOptions options = {.bytes_per_pack = bytes_per_pack};
          const Gradients expected = get_replica_context()->all_reduce(op, gradients_of(id()), options);
          Gradients gradients = {std::vector<float>(300), {{"bias", 0}, {"scale", 0}}, std::vector<float>(50)};
          OverlappedAllReduce reduced(op, gradients, options);
          gradients.output = gradients_of(id()).output;
          reduced.ready(gradients.output);
          gradients.hidden.at("scale") = gradients_of(id()).hidden.at("scale");
          gradients.hidden.at("bias") = gradients_of(id()).hidden.at("bias");
          reduced.ready(gradients.hidden);
          gradients.input = gradients_of(id()).input;
          reduced.ready(gradients.input);
          reduced.wait();
          expect_equal(gradients, expected);
        });
      }
    }
  }
}

TEST_P(WithReplicas, OverlappedAllReduceOfPartsInAnyOrder) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto values = strategy.run([&] {
    std::vector<std::vector<double>> value(7, std::vector<double>(10, id()));
    std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5, 6};
    std::rotate(order.begin(), order.begin() + id() % 7, order.end());
    if (id() % 2 == 1) order.resize(3);  // the rest is ready when it waits
    OverlappedAllReduce reduced(ReduceOp::sum, value, {.bytes_per_pack = 160});
    for (const std::size_t number : order) reduced.ready(value[number]);
    reduced.wait();
    return value;
  });
  const double sum = replicas() * (replicas() - 1) / 2.0;
  for (const auto& value : values.values()) EXPECT_THAT(value, Each(Each(sum)));
}

TEST_P(WithReplicas, OverlappedAllReduceOfNothing) {
  MirroredStrategy strategy = mirrored(replicas());
  strategy.run([&] {
    std::vector<std::vector<double>> value(3);
    OverlappedAllReduce reduced(ReduceOp::sum, value);
    reduced.ready(value[1]);
    reduced.wait();
    EXPECT_THAT(value, Each(std::vector<double>{}));
  });
}

TEST_P(WithReplicas, OverlappedAllReduceSaysWhatIsWrong) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto expect = [&](const std::string& text, const auto& wrong) {
    expect_error(ErrorCode::invalid_argument, text, [&] {
      strategy.run([&] {
        std::pair<std::vector<float>, int> value(std::vector<float>(3), 0);
        OverlappedAllReduce reduced(ReduceOp::sum, value);
        wrong(reduced, value);
      });
    });
  };
  expect("no part of the structure", [](auto& reduced, auto& /*value*/) {
    float other = 0;
    reduced.ready(other);
  });
  expect("was ready before", [](auto& reduced, auto& value) {
    reduced.ready(value);
    reduced.ready(value.second);
  });
  expect("part 0 had shape (3) and has (4)", [](auto& reduced, auto& value) {
    value.first.push_back(0);
    reduced.ready(value.first);
  });
  expect("part 0 had shape (3) and has (4)", [](auto& reduced, auto& value) {
    value.first.push_back(0);
    reduced.wait();
  });
  std::vector<float> outside(3);
  const auto scope = strategy.scope();
  expect_error(ErrorCode::wrong_context, "in the function given to run",
               [&] { OverlappedAllReduce(ReduceOp::sum, outside); });
}

TEST_P(WithReplicas, OverlappedAllReduceWithoutAWait) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto leave = [] {
    std::vector<double> value(10);
    OverlappedAllReduce reduced(ReduceOp::sum, value);
    reduced.ready(value);
  };
  if (replicas() == 1) return strategy.run(leave);  // its value is its own
  expect_error(ErrorCode::invalid_argument, "without calling wait", [&] { strategy.run(leave); });
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, strategy.run([] { return 1; })), replicas());
}

TEST_P(WithReplicas, OverlappedAllReduceThatIsLeft) {
  MirroredStrategy strategy = mirrored(replicas());
  EXPECT_THROW(strategy.run([&] {
    std::vector<std::vector<double>> value(3, std::vector<double>(10));
    OverlappedAllReduce reduced(ReduceOp::sum, value, {.bytes_per_pack = 80});
    reduced.ready(value[2]);
    if (id() == replicas() - 1) throw std::runtime_error("left");
    reduced.wait();
  }),
               std::runtime_error);
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, strategy.run([] { return 1; })), replicas());
}

}  // namespace
}  // namespace chorus::test
