// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

// Runs chorus-bench under mpirun and reads its pipes and files. MPIRUN and BENCH_PROGRAM say where the programs are.
namespace chorus::bench {

[[nodiscard]] std::string contents(const std::filesystem::path& file);

struct Outcome {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

class Program : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }

  /// `prefix` stands between mpirun and the program.
  [[nodiscard]] Outcome run(int ranks, const std::string& arguments, const std::string& prefix = "") const;

 private:
  std::filesystem::path folder_;
};

/// Numbers with a decimal point, however wide, become one mark; sizes and counts stay. The note that a small machine
/// calls for is left out.
[[nodiscard]] std::string blanked(const std::string& text);

/// One of each line.
[[nodiscard]] std::vector<nlohmann::json> objects(const std::string& text);

/// Expects nothing but one line that names the program once.
void expect_refused(const Outcome& outcome, const std::string& what);

}  // namespace chorus::bench
