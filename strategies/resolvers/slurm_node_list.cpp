// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/slurm_node_list.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace chorus {
namespace {

constexpr std::size_t most_nodes = 65536;
constexpr std::uint64_t most_tasks = 65536;  // of one node
constexpr std::size_t longest_name = 255;
constexpr std::size_t most_digits = 18;  // so that every number fits into 64 bits

constexpr bool is_digit(char character) { return character >= '0' && character <= '9'; }
/// No name of a host has blanks, control characters or bytes of other alphabets.
constexpr bool is_of_a_name(char character) { return character > ' ' && character <= '~'; }

/// A text that is read from left to right.
class Cursor {
 public:
  Cursor(const char* function, std::string_view text) : function_(function), text_(text) {}

  [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }
  [[nodiscard]] std::size_t place() const noexcept { return at_; }
  /// The next character, 0 at the end.
  [[nodiscard]] char peek() const noexcept { return at_end() ? '\0' : text_[at_]; }
  char next() noexcept { return text_[at_++]; }
  /// Passes `expected` if it comes next.
  bool skip(std::string_view expected) noexcept {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  /// Passes the digits that come next: one at least.
  std::string_view digits() {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    if (at_ == begin) fail(at_, "expected a number");
    if (at_ - begin > most_digits) fail(begin, fmt::format("a number of more than {} digits", most_digits));
    return text_.substr(begin, at_ - begin);
  }

  [[noreturn]] void fail(std::size_t place, std::string_view why) const {
    const std::string where = place < text_.size() ? fmt::format("at character {} of \"{}\"", place + 1, text_)
                                                   : fmt::format("at the end of \"{}\"", text_);
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}: {}", function_, where, why));
  }

 private:
  const char* function_;
  std::string_view text_;
  std::size_t at_ = 0;
};

std::uint64_t value_of(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// Reads one number or range, "08" or "08-10", and adds its numbers as text.
void read_range(Cursor& cursor, std::vector<std::string>& numbers) {
  const std::size_t begin = cursor.place();
  const std::string_view first = cursor.digits();
  const std::string_view last = cursor.skip("-") ? cursor.digits() : first;
  const std::uint64_t from = value_of(first), to = value_of(last);
  if (from > to) {
    cursor.fail(begin, fmt::format("the range {}-{} runs backwards; write {}-{}", first, last, last, first));
  }
  if (last.size() > first.size() && last.front() == '0') {
    cursor.fail(begin, fmt::format("the range {}-{} has more zeros at its end than at its beginning", first, last));
  }
  if (to - from >= most_nodes - numbers.size()) cursor.fail(begin, fmt::format("more than {} nodes", most_nodes));
  for (std::uint64_t number = from; number <= to; ++number) {
    numbers.push_back(fmt::format("{:0{}}", number, first.size()));
  }
}

/// Reads "[1-3,5]".
std::vector<std::string> read_bracket(Cursor& cursor) {
  const std::size_t begin = cursor.place();
  std::vector<std::string> numbers;
  cursor.skip("[");
  do read_range(cursor, numbers);
  while (cursor.skip(","));
  if (cursor.skip("]")) return numbers;
  if (cursor.at_end()) cursor.fail(begin, "the bracket is not closed");
  cursor.fail(cursor.place(), "expected a digit, \"-\", \",\" or \"]\"");
}

/// Every one of `beginnings` with every one of `endings`, the endings running faster.
std::vector<std::string> combined(const std::vector<std::string>& beginnings, const std::vector<std::string>& endings) {
  std::vector<std::string> names;
  names.reserve(beginnings.size() * endings.size());
  for (const std::string& beginning : beginnings) {
    for (const std::string& ending : endings) names.push_back(beginning + ending);
  }
  return names;
}

/// Reads what stands up to the next comma outside brackets.
std::vector<std::string> read_entry(Cursor& cursor) {
  const std::size_t begin = cursor.place();
  std::vector<std::string> names = {""};
  while (!cursor.at_end() && cursor.peek() != ',') {
    const std::size_t place = cursor.place();
    std::vector<std::string> endings = {""};
    if (cursor.peek() == '[') {
      endings = read_bracket(cursor);
    } else {
      while (is_of_a_name(cursor.peek()) && std::string_view("[],").find(cursor.peek()) == std::string_view::npos) {
        endings.front() += cursor.next();
      }
      if (endings.front().empty()) cursor.fail(place, "a character that no name of a host has");
    }
    if (names.size() * endings.size() > most_nodes) cursor.fail(begin, fmt::format("more than {} nodes", most_nodes));
    if (names.front().size() + endings.back().size() > longest_name) {
      cursor.fail(begin, fmt::format("a name of more than {} characters", longest_name));
    }
    names = combined(names, endings);
  }
  if (cursor.place() == begin) cursor.fail(begin, "expected the name of a host");
  return names;
}

}  // namespace

std::vector<std::string> expand_nodelist(std::string_view text) {
  Cursor cursor("expand_nodelist", text);
  std::vector<std::string> nodes;
  do {
    const std::size_t begin = cursor.place();
    std::vector<std::string> names = read_entry(cursor);
    if (nodes.size() + names.size() > most_nodes) cursor.fail(begin, fmt::format("more than {} nodes", most_nodes));
    std::ranges::move(names, std::back_inserter(nodes));
  } while (cursor.skip(",") && !cursor.at_end());
  return nodes;
}

std::vector<int> expand_tasks_per_node(std::string_view text) {
  Cursor cursor("expand_tasks_per_node", text);
  std::vector<int> tasks;
  do {
    const std::size_t begin = cursor.place();
    const std::uint64_t count = value_of(cursor.digits());
    if (count > most_tasks) cursor.fail(begin, fmt::format("more than {} tasks on a node", most_tasks));
    std::uint64_t times = 1;
    if (cursor.skip("(x")) {
      times = value_of(cursor.digits());
      if (!cursor.skip(")")) cursor.fail(cursor.place(), "expected \")\"");
    }
    if (times == 0) cursor.fail(begin, "a number of tasks on 0 nodes");
    if (times > most_nodes - tasks.size()) cursor.fail(begin, fmt::format("more than {} nodes", most_nodes));
    tasks.insert(tasks.end(), times, static_cast<int>(count));
  } while (cursor.skip(","));
  if (!cursor.at_end()) cursor.fail(cursor.place(), "expected \",\", or \"(x\" and the number of nodes");
  return tasks;
}

}  // namespace chorus
