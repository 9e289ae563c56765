// SPDX-License-Identifier: Apache-2.0
// Runs chorus-tune as a user does, and uses what it writes.
#include "worlds/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

using Outcome = chorus::test::CommandOutcome;

/// With its errors.
Outcome run(const std::string& command) { return chorus::test::run_command(command + " 2>&1"); }

std::string contents(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class ChorusTune : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "chorus-tune-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file() const { return (folder_ / "tuning.json").string(); }
  /// `variables` as in a shell.
  [[nodiscard]] Outcome tune(int ranks, const std::string& arguments, const std::string& variables = "") const {
    return run(variables + " timeout -k 5 120 " MPIRUN " -n " + std::to_string(ranks) + " " CHORUS_TUNE " -o " +
               file() + " " + arguments);
  }
  /// What is chosen with the file.
  [[nodiscard]] Outcome explain(int ranks, const std::string& call, const std::string& variables = "") const {
    return run(variables + " CHORUS_TUNING_FILE=" + file() + " timeout -k 5 60 " MPIRUN " -n " + std::to_string(ranks) +
               " " CHORUS_INFO " explain " + call);
  }
  void write(const json& text) const { std::ofstream(file()) << text; }

 private:
  std::filesystem::path folder_;
};

TEST_F(ChorusTune, WritesLinksThatTheLibraryTakes) {
  const Outcome outcome = tune(2, "allreduce -m 8:64 -i 3");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("# Regret of the choice with it: "));
  const json written = json::parse(contents(file()));
  EXPECT_EQ(written.at("schema"), 1);
  EXPECT_EQ(written.at("machine").at("ranks"), 2);
  EXPECT_EQ(written["machine"].at("nodes"), 1);
  EXPECT_FALSE(written["machine"].at("mpi").get<std::string>().empty());
  EXPECT_FALSE(written.contains("measured"));
  EXPECT_FALSE(written.contains("links") && written["links"].contains("network")) << "there is none";
  const Outcome explained = explain(2, "allreduce 64");
  EXPECT_EQ(explained.exit_code, 0) << explained.output;
  EXPECT_THAT(explained.output, HasSubstr("fastest as predicted by the model"));
}

TEST_F(ChorusTune, MeasuresTheNetworkOfSeveralNodes) {
  const std::string nodes = "CHORUS_NODE_RANKS=2";
  const Outcome outcome = tune(4, "bcast -m 64:256 -i 2", nodes);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const json links = json::parse(contents(file())).at("links");
  for (const char* const name : {"network", "network_by_all"}) {
    EXPECT_GT(links.at(name).at("latency_us"), 0.0);
    EXPECT_GT(links.at(name).at("megabytes_per_second"), 0.0);
  }
  EXPECT_GT(links.at("further_message"), 0.0);
  EXPECT_LE(links.at("further_message"), 1.0);
  const Outcome explained = explain(4, "bcast 64", nodes + " CHORUS_LOG=info");
  EXPECT_EQ(explained.exit_code, 0) << explained.output;
  EXPECT_THAT(explained.output, Not(HasSubstr("messages between nodes"))) << "the file says what they take";
}

TEST_F(ChorusTune, WritesWhatItHasMeasuredOfEveryAlgorithm) {
  const Outcome outcome = tune(2, "--exhaustive barrier scan -m 1K:2K -i 2");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const json measured = json::parse(contents(file())).at("measured");
  int of_scan = 0, by_native = 0;
  for (const json& row : measured) {
    of_scan += row.at("collective") == "scan" ? 1 : 0;
    by_native += row.at("algorithm") == "native" ? 1 : 0;
    EXPECT_EQ(row.at("ranks"), 2);
    EXPECT_GT(row.at("median_us"), 0.0);
  }
  EXPECT_EQ(by_native, 3);
  EXPECT_GE(of_scan, 2 * 4);
  EXPECT_LT(of_scan, static_cast<int>(measured.size()));
  const Outcome explained = explain(2, "scan 2048");
  EXPECT_THAT(explained.output, HasSubstr("fastest as measured in the tuning file")) << explained.output;
  const Outcome apart = explain(2, "scan 2048", "CHORUS_NODE_RANKS=1");
  EXPECT_THAT(apart.output, HasSubstr("fastest as predicted by the model")) << apart.output;
}

TEST_F(ChorusTune, RefusesAFolderBeforeItMeasures) {
  std::filesystem::create_directory(file());
  const Outcome outcome = tune(2, "allreduce -m 8:64 -i 3");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("-o: cannot write " + file() + ": Is a directory"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("#")));
  EXPECT_FALSE(std::filesystem::exists(file() + ".part"));
}

TEST_F(ChorusTune, IsRefusedElsewhere) {
  write({{"schema", 1}, {"machine", {{"mpi", "another MPI"}}}});
  const Outcome explained = explain(2, "allreduce 64");
  EXPECT_EQ(explained.exit_code, 2);
  EXPECT_THAT(explained.output,
              HasSubstr("the tuning file " + file() + " is not used: it was measured with another MPI"));
  EXPECT_THAT(explained.output, HasSubstr("make one here with chorus-tune"));
}

TEST_F(ChorusTune, GoesWithoutAFileThatItCannotUse) {
  const std::string variable = "CHORUS_TUNING_FILE=" + file();
  const Outcome first = tune(2, "allreduce -m 8:8 -i 2", variable);
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_THAT(first.output, HasSubstr("chorus-tune: goes without " + variable + ": the file is empty or cannot"));
  const Outcome again = tune(2, "allreduce -m 8:8 -i 2", variable);
  EXPECT_EQ(again.exit_code, 0) << again.output;
  EXPECT_THAT(again.output, Not(HasSubstr("goes without")));
  write({{"schema", 1}, {"machine", {{"mpi", "another MPI"}}}});
  const Outcome anew = tune(2, "allreduce -m 8:8 -i 2", variable);
  EXPECT_EQ(anew.exit_code, 0) << anew.output;
  EXPECT_THAT(anew.output, HasSubstr("is not used: it was measured with another MPI"));
  EXPECT_EQ(explain(2, "allreduce 8").exit_code, 0);
}

TEST_F(ChorusTune, SaysWhatCannotBeDoneAndLeavesNothingBehind) {
  const Outcome alone = run(std::string(CHORUS_TUNE " -o ") + file());
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.output, HasSubstr("chorus-tune: one rank has nothing to measure; launch it as mpirun -n 2"));
  const Outcome nowhere = run("timeout -k 5 60 " MPIRUN " -n 2 " CHORUS_TUNE " -o /no/such/folder/a.json");
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.output, HasSubstr("-o: cannot write /no/such/folder/a.json: No such file or directory"));
  EXPECT_EQ(tune(2, "allredcue").exit_code, 2);
  EXPECT_EQ(tune(2, "allreduce", "CHORUS_TIMEOUT=x").exit_code, 2);
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(file()).parent_path()));
}

}  // namespace
