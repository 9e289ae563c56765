// SPDX-License-Identifier: Apache-2.0
#include "base/tuning_file.hpp"

#include "base/installation.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace chorus {
namespace {

TEST(TuningFile, OfAnInstallationIsBelowThePrefixThatThisWasBuiltForAsThisProgramIsInNone) {
  const auto expected = std::filesystem::path(installation::prefix) / installation::sysconfdir / "chorus/tuning.json";
  EXPECT_EQ(installed_tuning_file(), expected.string());
}

TEST(TuningFile, ThatCannotBeReadIsEmpty) {
  EXPECT_EQ(contents_of("/no/such/file"), "");
  EXPECT_EQ(contents_of("/"), "");
}

TEST(TuningFile, IsReadAsItStands) {
  std::string name = (std::filesystem::temp_directory_path() / "chorus-tuning-XXXXXX").string();
  const int file = mkstemp(name.data());
  ASSERT_GE(file, 0);
  const std::string text = "a\n\n b\0c\xFF\n";
  EXPECT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(file);
  EXPECT_EQ(contents_of(name), text);
  std::remove(name.c_str());
}

TEST(TuningFile, GivesTheNetworkWhereItHolds) {
  const auto gives = [](const std::string& text, const TuningFile::Job& job = {}) {
    const Site here = {.mpi = "Open MPI 4.1.4", .processor = "Xeon", .cores = 8};
    return TuningFile{.path = {}, .text = text, .installed = false, .here = here}.gives_network(job);
  };
  EXPECT_TRUE(gives(R"({"links": {"network": {}}})"));
  EXPECT_TRUE(gives(R"({"machine": {"mpi": "Open MPI 4.1.4", "cores": 8}, "links": {"network": {}}})"));
  EXPECT_TRUE(gives(R"({"machine": {"crowded": true}, "links": {"network": {}}})", {.crowded = true}));
  EXPECT_FALSE(gives(R"({"machine": {"crowded": true}, "links": {"network": {}}})"));
  EXPECT_FALSE(gives(R"({"machine": {"mpi": "MPICH 4.0"}, "links": {"network": {}}})"));
  EXPECT_FALSE(gives(R"({"machine": {"processor": "EPYC"}, "links": {"network": {}}})"));
  EXPECT_FALSE(gives(R"({"machine": {"cores": 64}, "links": {"network": {}}})"));
  const std::string of_four = R"({"machine": {"nodes": 4, "ranks_per_node": 2}, "links": {"network": {}}})";
  EXPECT_TRUE(gives(of_four, {.nodes = 8, .senders = 4}));
  EXPECT_FALSE(gives(of_four, {.nodes = 9, .senders = 4})) << "more nodes than twice as many";
  EXPECT_FALSE(gives(of_four, {.nodes = 8, .senders = 5})) << "more ranks than twice as many";
  EXPECT_TRUE(gives(R"({"links": {"network": {}}})", {.nodes = 1000, .senders = 100})) << "which does not say";
  EXPECT_FALSE(gives(R"({"links": {"node": {}}, "machine": {"mpi": "network"}})"));
  EXPECT_FALSE(gives(R"({"links": {"network": {})"));
  EXPECT_FALSE(gives("[]"));
  EXPECT_FALSE(gives(""));
}

}  // namespace
}  // namespace chorus
