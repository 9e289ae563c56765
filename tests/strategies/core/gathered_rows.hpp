// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/structure.hpp>
#include <chorus/strategies/tensor.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::test {

/// `factor` times each of `numbers`, each repeated as often as it is, and once more: of 0, 1, 2 and 1 0, 1, 1, 2, 2, 2.
template <class T>
std::vector<T> repeated(const std::vector<int>& numbers, int factor = 1) {
  std::vector<T> all;
  for (const int number : numbers) {
    all.insert(all.end(), static_cast<std::size_t>(number + 1), static_cast<T>(factor * number));
  }
  return all;
}

/// The numbers from 0 to count - 1.
inline std::vector<int> numbers_below(int count) {
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

/// An aggregate with a map in it.
struct Features {
  std::vector<float> x = {};
  std::map<std::string, std::vector<int>> parts = {};
  bool operator==(const Features&) const = default;
};

/// A structure of all kinds.
using Nested = std::tuple<Features, std::vector<Tensor<double, 2>>,
                          std::pair<std::array<std::vector<int>, 2>, std::map<int, std::vector<char>>>>;

/// Rows of each of `numbers`, in their order: what replica r brings is nested_rows({r}), and what is gathered of all
/// along the first dimension nested_rows of all their numbers.
inline Nested nested_rows(const std::vector<int>& numbers) {
  const auto columns = [&](int count) {
    std::vector<double> values;
    for (const double row : repeated<double>(numbers)) {
      for (int column = 0; column < count; ++column) values.push_back(100 * row + column);
    }
    const std::size_t rows = repeated<int>(numbers).size();
    return Tensor<double, 2>({rows, static_cast<std::size_t>(count)}, std::move(values));
  };
  return {Features{repeated<float>(numbers), {{"a", repeated<int>(numbers, 2)}, {"b", repeated<int>(numbers, 3)}}},
          {columns(2), columns(1), columns(0)},
          {{repeated<int>(numbers, 4), repeated<int>(numbers, 5)}, {{7, repeated<char>(numbers, 6)}}}};
}

}  // namespace chorus::test
