// SPDX-License-Identifier: Apache-2.0
#include "bench_program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace chorus::bench {

using testing::HasSubstr;
using testing::Not;

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

void Program::SetUp() {
  std::string name = (std::filesystem::temp_directory_path() / "chorus-bench-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
}

Outcome Program::run(int ranks, const std::string& arguments, const std::string& prefix) const {
  const std::string command =
      fmt::format("timeout -k 5 60 {} -n {} {} {} {} >{} 2>{}", std::getenv("MPIRUN"), ranks, prefix,
                  std::getenv("BENCH_PROGRAM"), arguments, path("output"), path("errors"));
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(path("output")), contents(path("errors"))};
}

std::string blanked(const std::string& text) {
  const std::string without_note = std::regex_replace(text, std::regex("# Note: [^\n]*\n"), "");
  const std::string without_times = std::regex_replace(without_note, std::regex(" +[0-9]+\\.[0-9]+"), " #");
  return std::regex_replace(without_times, std::regex(" v[0-9.]+\n"), " vN\n");
}

std::vector<nlohmann::json> objects(const std::string& text) {
  std::vector<nlohmann::json> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
  return all;
}

void expect_refused(const Outcome& outcome, const std::string& what) {
  EXPECT_EQ(outcome.exit_code, 2) << what << ": " << outcome.errors;
  EXPECT_EQ(outcome.output, "") << what;
  EXPECT_THAT(outcome.errors, Not(HasSubstr("chorus: "))) << what;
  const std::regex said("chorus-bench: [^\n]*\n");
  EXPECT_EQ(
      std::distance(std::sregex_iterator(outcome.errors.begin(), outcome.errors.end(), said), std::sregex_iterator()),
      1)
      << what << ": " << outcome.errors;
}

}  // namespace chorus::bench
