// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device_span.hpp>
#include <chorus/element.hpp>

#include <cstddef>
#include <ranges>

namespace chorus::detail {

/// The buffers of a call without their C++ type. In place: `in` and `out` are equal.
struct Buffers {
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t in_count = 0;   ///< elements of `in`
  std::size_t out_count = 0;  ///< elements of `out`
  DataType type = DataType::uint8;
  std::size_t element_bytes = 1;   ///< the size of one element
  const Stream* stream = nullptr;  ///< that of a call on device memory; null on memory of the host
};

template <class In, class Out>
requires ElementRanges<In, Out>
[[nodiscard]] Buffers buffers(const In& in, Out& out) {
  return {std::ranges::data(in),
          std::ranges::data(out),
          std::ranges::size(in),
          std::ranges::size(out),
          data_type_of<std::ranges::range_value_t<In>>(),
          sizeof(std::ranges::range_value_t<In>)};
}

template <WritableElementRange InOut>
[[nodiscard]] Buffers buffers(InOut& inout) {
  return buffers(inout, inout);
}

template <class In, class Out>
requires DeviceSpans<In, Out>
[[nodiscard]] Buffers buffers(DeviceSpan<In> in, DeviceSpan<Out> out, const Stream& stream) {
  return {in.data(), out.data(), in.size(), out.size(), data_type_of<Out>(), sizeof(Out), &stream};
}

}  // namespace chorus::detail
