// SPDX-License-Identifier: Apache-2.0
#include "variable_description.hpp"

#include <chorus/detail/fnv1a.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace chorus::detail {
namespace {

void put_name(std::array<char, 128>& to, const std::string& name) {
  if (name.size() < to.size()) {
    std::ranges::copy(name, to.begin());
    return;
  }
  const std::size_t half = to.size() / 2 - 2;
  const std::string shortened = name.substr(0, half) + "..." + name.substr(name.size() - half);
  std::ranges::copy(shortened, to.begin());
}

/// The name, type and shape of `one`, and what else differs from `other`.
std::string text(const VariableDescription& one, const VariableDescription& other) {
  const auto known = static_cast<std::ptrdiff_t>(std::min(one.dimensions, one.shape.size()));
  std::string text = fmt::format("\"{}\" of {} {}", one.name.data(), name(one.type),
                                 to_string(Shape(one.shape.begin(), one.shape.begin() + known)));
  if (one.synchronization != other.synchronization) {
    text += fmt::format(" with the synchronization {}", chorus::name(one.synchronization));
  }
  if (one.aggregation != other.aggregation) {
    text += fmt::format(" with the aggregation {}", chorus::name(one.aggregation));
  }
  if (one.order != other.order) text += one.order == StorageOrder::row_major ? ", row-major" : ", column-major";
  if (one.trainable != other.trainable) text += one.trainable ? " trainable" : " not trainable";
  return text;
}

}  // namespace

VariableDescription::VariableDescription(const VariableOptions& options, const TensorRef& tensor)
    : type(tensor.type),
      synchronization(options.synchronization),
      aggregation(options.aggregation),
      trainable(options.trainable.value_or(true)),
      order(tensor.shape.size() < 2 ? StorageOrder::row_major : tensor.order),
      dimensions(tensor.shape.size()) {
  put_name(name, options.name);
  std::copy_n(tensor.shape.begin(), std::min(dimensions, shape.size()), shape.begin());
  Fnv1a all;
  all.add(options.name);
  for (const std::size_t length : tensor.shape) all.add(length);
  hash = all.value();
}

void reject_different(const Maker& first_maker, const VariableDescription& first, const Maker& other_maker,
                      const VariableDescription& other) {
  std::string how = fmt::format("{} {} makes {}, {} {} makes {}", first_maker.who, first_maker.number,
                                text(first, other), other_maker.who, other_maker.number, text(other, first));
  VariableDescription same_hash = other;
  same_hash.hash = first.hash;
  if (same_hash == first) how += ", whose name or shape differs in what is left out here";
  throw Error(ErrorCode::mismatch,
              fmt::format("Variable: {}: make the same variables in the same order everywhere", how));
}

}  // namespace chorus::detail
