// SPDX-License-Identifier: Apache-2.0
// A number of bytes. What is read is written and read again.
#include "base/names.hpp"

#include "fuzz.hpp"

#include <string>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto bytes = chorus::parse_bytes(text)) {
    chorus::fuzz::require(chorus::parse_bytes(std::to_string(*bytes)) == bytes, "a number that is not the same again");
    chorus::fuzz::require(text.find_first_of("-+ .") == std::string_view::npos, "a character that is no number's");
  }
  return 0;
}
