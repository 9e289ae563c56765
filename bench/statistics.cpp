// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>

namespace chorus::bench {
namespace {

constexpr int resamples = 1000;

// Medians of resamples of fixed values: sorted once, each resample is then one walk over how often each was drawn.
class ResampledMedian {
 public:
  explicit ResampledMedian(std::span<const double> values) : values_(values), order_(values.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  }

  /// The median of the sample that holds values[i] `drawn[i]` times, as many in all as there are values.
  [[nodiscard]] double of(std::span<const unsigned> drawn) const {
    const std::size_t upper = order_.size() / 2, lower = (order_.size() - 1) / 2;
    std::size_t seen = 0, at = 0;
    while ((seen += drawn[order_[at]]) <= lower) ++at;
    const double low_middle = values_[order_[at]];
    while (seen <= upper) seen += drawn[order_[++at]];
    return (low_middle + values_[order_[at]]) / 2;
  }

 private:
  std::span<const double> values_;
  std::vector<std::size_t> order_;
};

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

Quartiles quartiles(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.25), quantile(samples, 0.5), quantile(samples, 0.75)};
}

Estimate estimate_of_medians(std::span<const std::span<const double>> sides, const Figure& figure) {
  const std::size_t repetitions = sides[0].size();
  std::vector<ResampledMedian> medians(sides.begin(), sides.end());
  const auto figure_of = [&](std::span<const unsigned> drawn) {
    std::vector<double> of_sides;
    for (const ResampledMedian& median : medians) of_sides.push_back(median.of(drawn));
    return figure(of_sides);
  };
  std::mt19937_64 random(1);  // the same for the same samples
  std::uniform_int_distribution<std::size_t> any_repetition(0, repetitions - 1);
  std::vector<double> figures(resamples);
  for (double& one : figures) {
    std::vector<unsigned> drawn(repetitions);
    for (std::size_t draw = 0; draw < repetitions; ++draw) ++drawn[any_repetition(random)];
    one = figure_of(drawn);
  }
  std::sort(figures.begin(), figures.end());
  const std::vector<unsigned> each_once(repetitions, 1);
  return {figure_of(each_once), quantile(figures, 0.025), quantile(figures, 0.975)};
}

Estimate ratio_of_medians(std::span<const double> a, std::span<const double> b) {
  const std::array sides = {a, b};
  return estimate_of_medians(sides, [](std::span<const double> medians) { return medians[0] / medians[1]; });
}

double geometric_mean(std::span<const double> values) {
  double sum_of_logs = 0;
  for (const double value : values) sum_of_logs += std::log(value);
  return std::exp(sum_of_logs / static_cast<double>(values.size()));
}

}  // namespace chorus::bench
