// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace chorus::test {

/// Seconds in which an error is there that nobody has to wait for, also on a busy machine.
inline constexpr double soon_s = 10;

/// How a call ended: `code` is empty where it threw nothing.
struct Outcome {
  std::optional<ErrorCode> code;
  std::string text;
  std::chrono::duration<double> took{};
};
template <class Function>
[[nodiscard]] Outcome outcome_of(Function&& function) {
  const auto began = std::chrono::steady_clock::now();
  Outcome outcome;
  try {
    function();
  } catch (const Error& error) {
    outcome.code = error.code();
    outcome.text = error.what();
  }
  outcome.took = std::chrono::steady_clock::now() - began;
  return outcome;
}

/// Fails the test where any of them is an Error.
inline void expect_success(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) EXPECT_FALSE(outcome.code) << outcome.text;
}

/// Fails the test unless `outcome` is an Error with `code` whose text has all of `words`.
inline void expect_error(const Outcome& outcome, ErrorCode code, const std::vector<std::string>& words) {
  if (!outcome.code) {
    ADD_FAILURE() << "no error; expected " << name(code);
    return;
  }
  EXPECT_STREQ(name(*outcome.code), name(code)) << outcome.text;
  for (const std::string& word : words) {
    EXPECT_NE(outcome.text.find(word), std::string::npos) << '"' << word << "\" is not in: " << outcome.text;
  }
}

}  // namespace chorus::test
