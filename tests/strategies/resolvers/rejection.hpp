// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace chorus::test {

/// Expects that `call` throws an Error of `code` whose message has all of `words`.
template <class Call>
void expect_rejection(ErrorCode code, std::initializer_list<std::string_view> words, Call&& call) {
  try {
    call();
    ADD_FAILURE() << "nothing is thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(name(error.code()), name(code)) << error.what();
    for (const std::string_view word : words) {
      EXPECT_NE(error.message().find(word), std::string::npos) << '"' << word << "\" is not in: " << error.message();
    }
  }
}

}  // namespace chorus::test
