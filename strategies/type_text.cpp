// SPDX-License-Identifier: Apache-2.0
#include "type_text.hpp"

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace chorus {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Where the template argument list that is open at `at` has ended.
std::size_t end_of_list(const std::string& text, std::size_t at) {
  for (int open = 1; open > 0 && at < text.size(); ++at) open += text[at] == '<' ? 1 : text[at] == '>' ? -1 : 0;
  return at;
}

void leave_out_allocators(std::string& text) {
  constexpr std::string_view allocator = ", std::allocator<";
  for (std::size_t at = text.find(allocator); at != std::string::npos; at = text.find(allocator)) {
    text.erase(at, end_of_list(text, at + allocator.size()) - at);
  }
}

}  // namespace

std::string type_text(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  std::string text = status == 0 ? readable.get() : type.name();
  leave_out_allocators(text);
  replace_all(text, " >", ">");
  replace_all(text, "std::__cxx11::basic_string<char, std::char_traits<char>>", "std::string");
  return text;
}

}  // namespace chorus
