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

TEST(TuningFile, GivesWhatItNames) {
  const TuningFile file = {.path = {}, .text = R"({"links": {"network": {}}})", .installed = false, .here = {}};
  EXPECT_TRUE(file.gives("network"));
  EXPECT_FALSE(file.gives("net"));
  EXPECT_FALSE(TuningFile().gives("network"));
}

}  // namespace
}  // namespace chorus
