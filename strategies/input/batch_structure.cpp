// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/batch.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace chorus::detail {

void reject_structure(std::size_t element, const std::vector<std::string>& its_leaves,
                      const std::vector<std::string>& leaves_before) {
  const auto [its, before] = std::ranges::mismatch(its_leaves, leaves_before);
  std::string how = "another number of empty vectors or maps than those before it in the batch";
  if (its != its_leaves.end() && before != leaves_before.end()) {
    how = fmt::format("{} where those before it in the batch have {}", *its, *before);
  } else if (its != its_leaves.end()) {
    how = fmt::format("{}, which those before it in the batch have not", *its);
  } else if (before != leaves_before.end()) {
    how = fmt::format("no {}, as those before it in the batch have", *before);
  }
  throw Error(ErrorCode::invalid_argument, fmt::format("Dataset::batch: element {} has {}: bring all to the same keys "
                                                       "and lengths by map before they are batched",
                                                       element, how));
}

}  // namespace chorus::detail
