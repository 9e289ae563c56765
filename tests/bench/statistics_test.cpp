// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

namespace chorus::bench {
namespace {

TEST(Quantile, LiesBetweenNeighbours) {
  const std::vector<double> sorted = {10, 20, 40};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0), 10);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 15);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 20);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.75), 30);
  EXPECT_DOUBLE_EQ(quantile(sorted, 1), 40);
}

TEST(Quartiles, TakeSamplesInAnyOrder) {
  const Quartiles odd = quartiles({5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(odd.p25, 2);
  EXPECT_DOUBLE_EQ(odd.median, 3);
  EXPECT_DOUBLE_EQ(odd.p75, 4);
  EXPECT_DOUBLE_EQ(quartiles({4, 1, 3, 2}).median, 2.5);
}

TEST(Quartiles, OfOneSampleAreThatSample) {
  const Quartiles one = quartiles({7});
  EXPECT_DOUBLE_EQ(one.p25, 7);
  EXPECT_DOUBLE_EQ(one.median, 7);
  EXPECT_DOUBLE_EQ(one.p75, 7);
}

TEST(RatioOfMedians, OfConstantSidesHasNoSpread) {
  const std::vector<double> a(11, 3.0), b(11, 2.0);
  const Estimate ratio = ratio_of_medians(a, b);
  EXPECT_DOUBLE_EQ(ratio.value, 1.5);
  EXPECT_DOUBLE_EQ(ratio.low, 1.5);
  EXPECT_DOUBLE_EQ(ratio.high, 1.5);
}

TEST(RatioOfMedians, KeepsPairsTogether) {
  // Noise that both sides of a pair share cancels, however large it is; resampled apart it would not.
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> noise(1, 100);
  std::vector<double> a(101), b(101);
  for (std::size_t pair = 0; pair < a.size(); ++pair) {
    b[pair] = noise(random);
    a[pair] = 2 * b[pair];
  }
  const Estimate ratio = ratio_of_medians(a, b);
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_DOUBLE_EQ(ratio.low, 2);
  EXPECT_DOUBLE_EQ(ratio.high, 2);
}

TEST(RatioOfMedians, IntervalHasTheWidthTheoryGives) {
  // The median of n normal samples has a standard error of 1.2533 sigma / sqrt(n).
  constexpr std::size_t n = 2500;
  constexpr double mean = 100, sigma = 10;
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(mean, sigma);
  std::vector<double> a(n), b(n, mean);
  std::generate(a.begin(), a.end(), [&] { return noise(random); });
  const Estimate ratio = ratio_of_medians(a, b);
  const double expected = 2 * 1.96 * 1.2533 * sigma / mean / 50;
  EXPECT_LT(ratio.low, ratio.value);
  EXPECT_LT(ratio.value, ratio.high);
  EXPECT_NEAR(ratio.high - ratio.low, expected, 0.35 * expected);
}

TEST(RatioOfMedians, IntervalHoldsTheTruthNineteenTimesOutOfTwenty) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> noise(0, 0.3);  // median 1
  constexpr int experiments = 300;
  int held = 0;
  for (int experiment = 0; experiment < experiments; ++experiment) {
    std::vector<double> a(60), b(60);
    std::generate(a.begin(), a.end(), [&] { return noise(random); });
    std::generate(b.begin(), b.end(), [&] { return noise(random); });
    const Estimate ratio = ratio_of_medians(a, b);
    held += ratio.low <= 1 && 1 <= ratio.high ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(held) / experiments, 0.95, 0.04);
}

TEST(RatioOfMedians, IsTheSameForTheSameSamples) {
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> noise(1, 2);
  std::vector<double> a(40), b(40);
  std::generate(a.begin(), a.end(), [&] { return noise(random); });
  std::generate(b.begin(), b.end(), [&] { return noise(random); });
  EXPECT_EQ(ratio_of_medians(a, b).low, ratio_of_medians(a, b).low);
  EXPECT_DOUBLE_EQ(ratio_of_medians(a, b).value, quartiles(a).median / quartiles(b).median);
}

TEST(EstimateOfMedians, ComputesTheFigureOfEverySide) {
  const std::vector<double> a(5, 7.0), b = {1, 2, 3, 4, 5}, c(5, 2.0);
  const std::vector<std::span<const double>> sides = {a, b, c};
  const Estimate figure = estimate_of_medians(
      sides, [](std::span<const double> medians) { return 100 * medians[0] + 10 * medians[1] + medians[2]; });
  EXPECT_DOUBLE_EQ(figure.value, 732);
  EXPECT_GE(figure.low, 712);
  EXPECT_LT(figure.low, 732);
  EXPECT_GT(figure.high, 732);
  EXPECT_LE(figure.high, 752);
}

TEST(GeometricMean, MultipliesAndTakesTheRoot) {
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{0.5, 2}), 1);
}

}  // namespace
}  // namespace chorus::bench
