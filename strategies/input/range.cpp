// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/array_dataset.hpp>

#include <cstdint>
#include <memory>

namespace chorus {

Dataset<std::int64_t> range(std::size_t count) {
  return Dataset<std::int64_t>(std::make_shared<const detail::RangeStage>(0, 1, count));
}

Dataset<std::int64_t> range(std::int64_t first, std::int64_t last, std::int64_t step) {
  if (step == 0) throw Error(ErrorCode::invalid_argument, "range: step is 0: give a number above or below 0");
  // Unsigned, as the distance of two numbers need not fit into a signed one.
  const auto low = static_cast<std::uint64_t>(step > 0 ? first : last);
  const auto high = static_cast<std::uint64_t>(step > 0 ? last : first);
  const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  const bool none = step > 0 ? first >= last : first <= last;
  const std::size_t count = none ? 0 : (high - low - 1) / stride + 1;
  return Dataset<std::int64_t>(std::make_shared<const detail::RangeStage>(first, step, count));
}

}  // namespace chorus
