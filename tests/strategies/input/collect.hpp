// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chorus::test {

/// All that `dataset` gives.
template <class Dataset>
auto collect(const Dataset& dataset) {
  std::vector<typename Dataset::Element> all;
  for (auto& element : dataset) all.push_back(std::move(element));
  return all;
}

/// What Error{invalid_argument} says that `function` throws.
template <class Function>
std::string rejection(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.message();
  }
  ADD_FAILURE() << "nothing is thrown";
  return "";
}

}  // namespace chorus::test
