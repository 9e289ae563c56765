// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace chorus::test {

/// A folder for the files of one test, gone with it.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::path(testing::TempDir()) / ("chorus_input_" + unique())) {
    std::filesystem::create_directory(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  /// Writes `contents` to a file called `name`; returns its path.
  [[nodiscard]] std::string write(const std::string& name, const std::string& contents) const {
    std::ofstream(path_ / name, std::ios::binary) << contents;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  static std::string unique() {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "_" + test->name() + "_" +
                       std::to_string(std::filesystem::hash_value(std::filesystem::current_path()));
    std::replace(name.begin(), name.end(), '/', '_');  // of tests with parameters
    return name;
  }
  std::filesystem::path path_;
};

}  // namespace chorus::test
