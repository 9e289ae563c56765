// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace chorus::bench {

/// The middle half of a set of samples, in the samples' unit.
struct Quartiles {
  double p25 = 0;
  double median = 0;
  double p75 = 0;
};

/// A value with an interval that holds it with 95 % confidence.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// The value below which the fraction `q` (0 to 1) of `sorted` lies, linear between neighbours. One sample or more.
[[nodiscard]] double quantile(std::span<const double> sorted, double q);

/// Quartiles of `samples`, in any order; one or more.
[[nodiscard]] Quartiles quartiles(std::vector<double> samples);

/// What is computed from the median of each side.
using Figure = std::function<double(std::span<const double> medians)>;

/// The figure of `sides`, whose samples of one index were measured side by side. The interval is the percentile
/// bootstrap: indices are drawn with replacement, so that what disturbed all sides at once stays together. One side or
/// more, of equal lengths, one sample or more; the same samples give the same interval.
[[nodiscard]] Estimate estimate_of_medians(std::span<const std::span<const double>> sides, const Figure& figure);

/// median(a) / median(b), estimated so.
[[nodiscard]] Estimate ratio_of_medians(std::span<const double> a, std::span<const double> b);

/// The n-th root of the product of n positive values; one or more.
[[nodiscard]] double geometric_mean(std::span<const double> values);

}  // namespace chorus::bench
