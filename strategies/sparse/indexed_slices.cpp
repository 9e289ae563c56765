// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/indexed_slices.hpp>

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace chorus::detail {

void check_slices(const SlicesRef& slices, const std::string& where) {
  const auto reject = [&](const std::string& why) { throw Error(ErrorCode::invalid_argument, where + ": " + why); };
  const Shape& dense = slices.dense_shape();
  const Shape given = slices.values().shape;
  const std::vector<std::int64_t>& indices = slices.indices();
  if (dense.size() != given.size()) {
    reject(fmt::format("slices whose dense_shape {} has {} dimensions, and their values {}: give as many",
                       to_string(dense), dense.size(), given.size()));
  }
  if (given.front() != indices.size()) {
    reject(
        fmt::format("slices with {} rows and {} indices: give one index for each row", given.front(), indices.size()));
  }
  if (!std::equal(dense.begin() + 1, dense.end(), given.begin() + 1)) {
    reject(fmt::format("slices with values of shape {} of a tensor of shape {}: only the first dimension may differ",
                       to_string(given), to_string(dense)));
  }
  const auto outside = std::ranges::find_if(
      indices, [&](std::int64_t index) { return index < 0 || static_cast<std::size_t>(index) >= dense.front(); });
  if (outside != indices.end()) {
    reject(fmt::format("slices with the index {} (number {} of them) of a tensor of {} rows: give indices from 0 to {}",
                       *outside, outside - indices.begin(), dense.front(),
                       static_cast<std::int64_t>(dense.front()) - 1));
  }
}

}  // namespace chorus::detail
