// SPDX-License-Identifier: Apache-2.0
#include "entrants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace chorus::bench {
namespace {

class Regrets : public testing::Test {
 protected:
  /// An algorithm that takes 1 us in the median.
  Entrant entrant(const std::string& name, std::size_t repetitions) {
    Entrant made;
    made.point.algorithm = name;
    made.us.resize(repetitions);
    std::ranges::generate(made.us, [&] { return noise_(random_); });
    made.point.us = quartiles(made.us);
    return made;
  }

 private:
  std::mt19937_64 random_{11};
  std::lognormal_distribution<double> noise_{0, 0.3};
};

TEST_F(Regrets, OfEqualAlgorithmsAreRarelySure) {
  constexpr int experiments = 200;
  int sure = 0;
  for (int experiment = 0; experiment < experiments; ++experiment) {
    std::vector<Entrant> entrants;
    for (int number = 0; number < 10; ++number) entrants.push_back(entrant(std::to_string(number), 100));
    sure += regret_of(table().front(), entrants, "0").ratio.low > 1 ? 1 : 0;
  }
  EXPECT_LT(sure, experiments / 20);
}

TEST_F(Regrets, OfFewRepetitionsCountThemAll) {
  const std::vector<Entrant> entrants = {entrant("chosen", 3), entrant("other", 3)};
  const Regret regret = regret_of(table().front(), entrants, "chosen");
  EXPECT_DOUBLE_EQ(regret.ratio.value, regret.chosen_us.median / regret.best_us.median);
  EXPECT_GE(regret.ratio.value, 1);
}

}  // namespace
}  // namespace chorus::bench
