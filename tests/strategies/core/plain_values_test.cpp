// SPDX-License-Identifier: Apache-2.0
// Values that are no PerReplica, and so the same on every replica.
#include "core/replicas.hpp"

#include <chorus/float16.hpp>
#include <chorus/strategies/strategy.hpp>

#include <complex>
#include <cstring>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

TEST_P(WithSeveralReplicas, ZerosOfEitherSignHaveASum) {
  MirroredStrategy strategy = mirrored(replicas());
  const auto zeros_have_a_sum = [&]<class T>(T zero) {
    const std::vector<T> zeros{T{}, zero};
    EXPECT_EQ(strategy.reduce(ReduceOp::sum, zeros), zeros);
  };
  zeros_have_a_sum(float16_t(-0.0F));
  zeros_have_a_sum(bfloat16_t(-0.0F));
  zeros_have_a_sum(-0.0F);
  zeros_have_a_sum(-0.0);
  zeros_have_a_sum(std::complex<double>(0.0, -0.0));
  std::vector<long double> padded(2);
  std::memset(padded.data(), 0xFF, padded.size() * sizeof(long double));
  for (volatile long double& number : padded) number = 0;
  EXPECT_EQ(strategy.reduce(ReduceOp::sum, padded), padded);
  const auto refused = [&](const auto& value) {
    expect_error(ErrorCode::invalid_argument, "the same on all",
                 [&] { std::ignore = strategy.reduce(ReduceOp::sum, value); });
  };
  refused(std::vector<long double>{0, 1});
  refused(std::complex<float>(0, 1));
  refused(bfloat16_t(1));
  refused(std::vector<int>{0, 256});
}

}  // namespace
}  // namespace chorus::test
