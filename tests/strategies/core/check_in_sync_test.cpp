// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/strategies/central_storage_strategy.hpp>
#include <chorus/strategies/check_in_sync.hpp>
#include <chorus/strategies/metrics.hpp>
#include <chorus/strategies/optimizers.hpp>

#include <array>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

class CheckInSync : public WithReplicas {};
INSTANTIATE_TEST_SUITE_P(Every, CheckInSync, testing::Values(1, 2, 3, 4, 8));

using Vector = std::vector<float>;

TEST_P(CheckInSync, Case208_ADifferingVariableIsNamedWithItsReplica) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto scope = strategy.scope();
  const Variable<Vector> weights({1, 2, 3}, {.name = "weights"});
  const Variable<double> bias(0, {.name = "bias"});
  check_in_sync(weights, bias);
  strategy.run([&] { weights.update([](Vector& mine) { mine[1] += 1; }); });
  check_in_sync(weights, bias);
  if (replicas() == 1) return;
  for (const int odd : {0, replicas() - 1}) {
    if (replicas() == 2 && odd == 0) continue;  // one of two is as good as the other
    strategy.run([&] { bias.update([&](double& mine) { mine = id() == odd ? 1e-300 : 0; }); });
    expect_error(ErrorCode::mismatch, "most: \"bias\" on replica " + std::to_string(odd) + ". Write",
                 [&] { check_in_sync(weights, bias); });
    check_in_sync(weights);
  }
  strategy.run([&] { weights.update([](Vector& mine) { mine[2] = static_cast<float>(id() == 0 ? 7 : 8); }); });
  expect_error(ErrorCode::mismatch, "\"weights\" on replica", [&] { check_in_sync(weights, bias); });
  expect_error(ErrorCode::mismatch, " and \"bias\" on replica", [&] { check_in_sync(weights, bias); });
}

TEST(CheckInSync, LooksAtBits) {
  MirroredStrategy strategy = mirrored(3);
  const auto scope = strategy.scope();
  const Variable<float> v(0, {.name = "v"});
  v.components() = {0.0F, 0.0F, -0.0F};
  expect_error(ErrorCode::mismatch, "\"v\" on replica 2", [&] { check_in_sync(v); });
  v.assign(std::numeric_limits<float>::quiet_NaN());
  check_in_sync(v);
}

TEST(CheckInSync, LooksAtShapes) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<Tensor<int, 2>> v(Tensor<int, 2>({2, 3}), {.name = "v"});
  v.components()[1] = Tensor<int, 2>({3, 2});
  expect_error(ErrorCode::mismatch, "\"v\" on replica 1", [&] { check_in_sync(v); });
}

TEST(CheckInSync, TakesWhatHasVariables) {
  MirroredStrategy strategy = mirrored(3);
  const auto scope = strategy.scope();
  const Variable<Vector> weights({1, 2}, {.name = "weights"});
  const Variable<double> bias(0, {.name = "bias"});
  const std::map<std::string, std::tuple<Variable<Vector>, Variable<double>>> layers{{"first", {weights, bias}}};
  const std::vector<Variable<double>> list{bias, bias};
  Adam optimizer{std::tuple(weights, bias), {.learning_rate = 0.1}};
  strategy.run([&] { optimizer.apply_gradients(std::tuple(Vector{1, 2}, 1.0)); });
  check_in_sync(layers, list, optimizer);
  const double before = bias.value();
  bias.components()[2] = 9;
  expect_error(ErrorCode::mismatch, "\"bias\" on replica 2", [&] { check_in_sync(layers); });
  expect_error(ErrorCode::mismatch, "\"bias\" on replica 2 and \"bias\" on", [&] { check_in_sync(list); });
  bias.assign(before);
  optimizer.for_each_saved([&](std::string_view /*name*/, auto& slots) {
    if constexpr (!detail::is_variable<std::remove_cvref_t<decltype(slots)>>) std::get<1>(slots).components()[1] += 1;
  });
  expect_error(ErrorCode::mismatch, "\"bias", [&] { check_in_sync(optimizer); });
}

TEST(CheckInSync, NamesTheFirstOfMany) {
  MirroredStrategy strategy = mirrored(12);
  const auto scope = strategy.scope();
  const Variable<int> v(0, {.name = "v"});
  for (std::size_t i = 0; i < 11; ++i) v.components()[i] = static_cast<int>(i);
  v.components()[11] = 0;
  expect_error(ErrorCode::mismatch, "replica 1, replica 2, replica 3, replica 4, replica 5, replica 6, replica 7, ",
               [&] { check_in_sync(v); });
  expect_error(ErrorCode::mismatch, "replica 8 and 2 more", [&] { check_in_sync(v); });
}

TEST(CheckInSync, PassesOverWhatIsSynchronisedOnRead) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  Mean mean;
  strategy.run([&] { mean.update_state(static_cast<double>(id())); });
  check_in_sync(mean);
}

TEST(CheckInSync, OneCopyForAllIsInSync) {
  CentralStorageStrategy strategy(some_devices(3));
  const auto scope = strategy.scope();
  const Variable<int> v(1, {.name = "v"});
  strategy.run([&] { v.update([](int& mine) { ++mine; }); });
  check_in_sync(v);
}

TEST(CheckInSync, IsForTheCrossReplicaContext) {
  MirroredStrategy strategy = mirrored(2);
  const auto scope = strategy.scope();
  const Variable<int> v(1, {.name = "v"});
  strategy.run([&] {
    expect_error(ErrorCode::wrong_context, "merge_call", [&] { check_in_sync(v); });
    get_replica_context()->merge_call([&](Strategy&) { check_in_sync(v); });
  });
  v.components()[1] = 2;
  expect_error(ErrorCode::mismatch, "\"v\" on replica 1",
               [&] { strategy.run([&] { get_replica_context()->merge_call([&](Strategy&) { check_in_sync(v); }); }); });
  check_in_sync();
}

TEST(CheckInSync, IsForOneStrategy) {
  MirroredStrategy strategy = mirrored(2);
  MirroredStrategy other = mirrored(2);
  const auto make = [](Strategy& in) {
    const auto scope = in.scope();
    return Variable<int>(1, {.name = "v"});
  };
  const Variable<int> v = make(strategy);
  const Variable<int> w = make(other);
  expect_error(ErrorCode::invalid_argument, "is checked with those of another mirrored strategy (a second object",
               [&] { check_in_sync(v, w); });
  const auto scope = other.scope();
  expect_error(ErrorCode::invalid_argument, "\"v\" belongs to the mirrored strategy", [&] { check_in_sync(v); });
}

}  // namespace
}  // namespace chorus::test
