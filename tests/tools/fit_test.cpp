// SPDX-License-Identifier: Apache-2.0
#include "fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <vector>

namespace chorus::tune {
namespace {

constexpr double lengths[] = {8, 512, 2048, 4096, 8192, 16384, 32768, 131072, 524288, 2097152};

/// Timings of `link`, each off by so much of it, up and down in turn.
std::vector<Timing> timings_of(const MessageLink& link, double off = 0) {
  std::vector<Timing> timings;
  for (const double bytes : lengths) {
    off = -off;
    timings.push_back({bytes, link.of(bytes).microseconds(1, bytes) * (1 + off)});
  }
  return timings;
}

TEST(Fit, FindsTheLine) {
  const MessageLink link = fit(timings_of({.latency_us = 70, .megabytes_per_second = 117}));
  EXPECT_NEAR(link.latency_us, 70, 1e-6);
  EXPECT_NEAR(link.megabytes_per_second, 117, 1e-6);
  EXPECT_TRUE(std::isinf(link.long_from));
}

TEST(Fit, IsNotLedAstrayByNoise) {
  const MessageLink link = fit(timings_of({.latency_us = 70, .megabytes_per_second = 117}, 0.04));
  EXPECT_NEAR(link.latency_us, 70, 5);
  EXPECT_NEAR(link.megabytes_per_second, 117, 8);
  EXPECT_TRUE(std::isinf(link.long_from)) << "one line is near enough";
}

TEST(Fit, FindsWhereMessagesTakeAnotherWay) {
  const MessageLink truth = {.latency_us = 1,
                             .megabytes_per_second = 3000,
                             .long_from = 8192,
                             .long_latency_us = 6,
                             .long_megabytes_per_second = 12000};
  for (const double off : {0.0, 0.03}) {
    const MessageLink link = fit(timings_of(truth, off));
    EXPECT_EQ(link.long_from, 8192);
    EXPECT_NEAR(link.latency_us, 1, 0.1);
    EXPECT_NEAR(link.megabytes_per_second, 3000, 600);
    EXPECT_NEAR(link.long_latency_us, 6, 1);
    EXPECT_NEAR(link.long_megabytes_per_second, 12000, 1000);
  }
}

/// No longer message may take less than a shorter one, by whole bytes around the switch and by the lengths of the
/// timings.
void expect_rise(const MessageLink& link) {
  const auto time = [&](double bytes) { return link.of(bytes).microseconds(1, bytes); };
  for (std::size_t index = 1; index < std::size(lengths); ++index) {
    EXPECT_GE(time(lengths[index]), time(lengths[index - 1])) << lengths[index] << " bytes";
  }
  if (std::isfinite(link.long_from)) {
    EXPECT_GE(time(link.long_from), time(link.long_from - 1)) << "from " << link.long_from;
  }
}

TEST(Fit, LetsNoLongerMessageTakeLessWhereTheLinesCross) {
  const MessageLink truth = {.latency_us = 1,
                             .megabytes_per_second = 1000,
                             .long_from = 8192,
                             .long_latency_us = 6,
                             .long_megabytes_per_second = 12000};
  const MessageLink link = fit(timings_of(truth));
  EXPECT_NEAR(link.long_from, 5 / (1 / 1000.0 - 1 / 12000.0), 1)
      << "not only from the first long one that was measured";
  EXPECT_NEAR(link.latency_us, 1, 1e-6);
  EXPECT_NEAR(link.long_latency_us, 6, 1e-6);
  expect_rise(link);
}

TEST(Fit, LetsNoLongerMessageTakeLessWhereTheyDo) {
  const MessageLink truth = {.latency_us = 20,
                             .megabytes_per_second = 1000,
                             .long_from = 8192,
                             .long_latency_us = 6,
                             .long_megabytes_per_second = 12000};
  for (const double off : {0.0, 0.03}) expect_rise(fit(timings_of(truth, off)));
}

TEST(Fit, TakesTheShareOfAFurtherMessageFromThree) {
  EXPECT_DOUBLE_EQ(share_of_further_message(10, 15), 0.25);
  EXPECT_DOUBLE_EQ(share_of_further_message(10, 30), 1);
  EXPECT_DOUBLE_EQ(share_of_further_message(10, 50), 1) << "never dearer than one after another";
  EXPECT_DOUBLE_EQ(share_of_further_message(10, 9), 0.01) << "above nothing";
}

TEST(Fit, GivesPositiveNumbersForAnyTimes) {
  const std::vector<std::vector<double>> of_us = {
      {5, 5, 5, 5}, {9, 7, 5, 3}, {1e-9, 1e-9, 1e9, 1e9}, {1, 1e3, 1e6, 1e9}, {1e6, 1, 1, 1}};
  for (const std::vector<double>& us : of_us) {
    std::vector<Timing> timings;
    for (std::size_t index = 0; index < us.size(); ++index) timings.push_back({lengths[index], us[index]});
    const MessageLink link = fit(timings);
    for (const double bytes : lengths) {
      EXPECT_GT(link.of(bytes).latency_us, 0);
      EXPECT_GT(link.of(bytes).megabytes_per_second, 0);
      EXPECT_TRUE(std::isfinite(link.of(bytes).microseconds(1, bytes)));
    }
  }
}

}  // namespace
}  // namespace chorus::tune
