// SPDX-License-Identifier: Apache-2.0
#include "variable_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace chorus::detail {
namespace {

struct Numbers {
  std::mutex mutex;
  std::uint32_t next = 1;
  std::map<std::uint32_t, std::string> names;  // by checksum
};

Numbers& numbers() {
  static Numbers all;
  return all;
}

}  // namespace

std::uint32_t unused_variable_number() {
  const std::scoped_lock lock(numbers().mutex);
  return numbers().next++;
}

void name_variable(std::uint32_t number, std::string text) {
  const std::scoped_lock lock(numbers().mutex);
  numbers().next = std::max(numbers().next, number + 1);
  numbers().names[checksum_of_variable(number)] = std::move(text);
}

std::string name_of_variable(std::uint32_t checksum) {
  const std::scoped_lock lock(numbers().mutex);
  const auto found = numbers().names.find(checksum);
  return found != numbers().names.end() ? found->second : fmt::format("variable {}", checksum);
}

}  // namespace chorus::detail
