// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/float16.hpp>

#include <cstdint>

namespace chorus::detail {

/// visit.operator()<T>() with the type of the elements; of complex numbers with that of their parts.
template <class Visit>
auto with_type(DataType type, const Visit& visit) {
  switch (type) {
    case DataType::boolean:
      return visit.template operator()<bool>();
    case DataType::int8:
      return visit.template operator()<std::int8_t>();
    case DataType::int16:
      return visit.template operator()<std::int16_t>();
    case DataType::int32:
      return visit.template operator()<std::int32_t>();
    case DataType::int64:
      return visit.template operator()<std::int64_t>();
    case DataType::uint16:
      return visit.template operator()<std::uint16_t>();
    case DataType::uint32:
      return visit.template operator()<std::uint32_t>();
    case DataType::uint64:
      return visit.template operator()<std::uint64_t>();
    case DataType::float16:
      return visit.template operator()<float16_t>();
    case DataType::bfloat16:
      return visit.template operator()<bfloat16_t>();
    case DataType::float32:
    case DataType::complex64:
      return visit.template operator()<float>();
    case DataType::float64:
    case DataType::complex128:
      return visit.template operator()<double>();
    case DataType::long_double:
      return visit.template operator()<long double>();
    default:
      return visit.template operator()<std::uint8_t>();
  }
}

}  // namespace chorus::detail
