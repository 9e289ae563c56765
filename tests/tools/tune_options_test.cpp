// SPDX-License-Identifier: Apache-2.0
#include "tune_options.hpp"

#include "sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace chorus::tune {
namespace {

using testing::HasSubstr;

std::optional<TuneOptions> parsed(std::vector<const char*> arguments, std::string* text = nullptr) {
  arguments.insert(arguments.begin(), "chorus-tune");
  std::string ignored;
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), text != nullptr ? *text : ignored);
}

std::string refusal(const std::vector<const char*>& arguments) {
  try {
    static_cast<void>(parsed(arguments));
    return "";
  } catch (const bench::Refusal& refusal) {
    return refusal.what();
  }
}

TEST(TuneOptions, OfNoArgumentsMeasureASample) {
  const TuneOptions options = parsed({}).value();
  EXPECT_FALSE(options.exhaustive);
  EXPECT_EQ(options.file, "chorus-tuning.json");
  ASSERT_EQ(options.subjects.size(), 6U);
  EXPECT_EQ(options.subjects[0].rows[0].name, "bcast");
  EXPECT_EQ(options.subjects[0].sizes.max, 256U << 10U);
}

TEST(TuneOptions, MeasureEveryCollectiveExhaustively) {
  const TuneOptions options = parsed({"--exhaustive", "-o", "a.json"}).value();
  EXPECT_TRUE(options.exhaustive);
  EXPECT_EQ(options.file, "a.json");
  EXPECT_EQ(options.subjects.size(), bench::table().size() - 4) << "of which no rank knows the lengths of the others";
  EXPECT_EQ(options.subjects[0].sizes.max, 4U << 20U);
}

TEST(TuneOptions, TakeCollectivesSizesAndIterations) {
  const TuneOptions options = parsed({"scan", "allreduce", "-m", "8:16K", "-i", "3"}).value();
  ASSERT_EQ(options.subjects.size(), 2U);
  EXPECT_EQ(options.subjects[1].rows[0].name, "allreduce");
  EXPECT_EQ(options.subjects[1].sizes.min, 8U);
  EXPECT_EQ(options.subjects[1].sizes.max, 16384U);
  EXPECT_EQ(options.subjects[1].iterations, 3U);
}

TEST(TuneOptions, TakeNoTimesThatNobodyCouldLookUp) {
  EXPECT_THAT(refusal({"--exhaustive", "gatherv"}), HasSubstr("no rank knows the lengths of the others in gatherv"));
  EXPECT_EQ(parsed({"gatherv"}).value().subjects.size(), 1U);
}

TEST(TuneOptions, SampleShorterVectorsOnManyRanks) {
  const auto longest = [](const char* collective, int ranks) {
    const bench::Options subject = parsed({collective}).value().subjects[0];
    const bench::SizeRange sizes = sizes_of_sample(subject.rows[0], subject.sizes, ranks);
    EXPECT_LE(sizes.min, sizes.max);
    return sizes.max;
  };
  EXPECT_EQ(longest("alltoall", 8), 256U << 10U);
  EXPECT_EQ(longest("alltoall", 1024), 8U << 10U);
  EXPECT_EQ(longest("alltoall", 65536), 128U);
  EXPECT_EQ(longest("bcast", 65536), 256U << 10U);
}

TEST(TuneOptions, TellWhatTheProgramDoes) {
  std::string text;
  EXPECT_FALSE(parsed({"--help"}, &text));
  EXPECT_THAT(text, HasSubstr("--exhaustive"));
  EXPECT_THAT(text, HasSubstr("CHORUS_TUNING_FILE=FILE"));
  EXPECT_FALSE(parsed({"--version"}, &text));
  EXPECT_THAT(text, HasSubstr("chorus-tune "));
}

TEST(TuneOptions, RefuseWhatIsNotUnderstood) {
  EXPECT_THAT(refusal({"allredcue"}), HasSubstr("unknown collective \"allredcue\"; did you mean \"allreduce\"?"));
  EXPECT_EQ(refusal({"-m", ""}), "--message-size: an empty text is no size (see --help)");
  EXPECT_EQ(refusal({"--exhausting"}), "not understood: --exhausting; did you mean --exhaustive? (see --help)");
  EXPECT_THAT(refusal({"-m", "1K:8"}), HasSubstr("-m: the smallest size, 1024 bytes, is larger"));
  EXPECT_EQ(refusal({"-m", "3"}), "-m: the least size is 4 bytes unless MIN:MAX is given, and 3 are less");
  EXPECT_EQ(refusal({"-i", "x"}), "--iterations: a whole number is wanted, not x (see --help)");
  EXPECT_EQ(refusal({"-i", "0"}), "-i must be 1 to 1000000000, not 0");
  EXPECT_EQ(refusal({"-o", ""}), "-o: an empty name is no file");
  EXPECT_THAT(refusal({"-o"}), HasSubstr("see --help"));
}

}  // namespace
}  // namespace chorus::tune
