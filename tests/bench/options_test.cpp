// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "base/names.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace chorus::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::optional<Options> parse(std::initializer_list<const char*> arguments, std::string& text) {
  std::vector<const char*> argv = {"chorus-bench"};
  argv.insert(argv.end(), arguments);
  return parse_options(static_cast<int>(argv.size()), argv.data(), text);
}

Options parse(std::initializer_list<const char*> arguments) {
  std::string text;
  return parse(arguments, text).value();
}

std::string refusal_of(std::initializer_list<const char*> arguments) {
  try {
    static_cast<void>(parse(arguments));
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "accepted";
}

TEST(CommandLine, HasTheOsuBenchmarksDefaults) {
  const Options options = parse({"allreduce"});
  ASSERT_EQ(options.rows.size(), 1U);
  EXPECT_EQ(options.rows[0].name, "allreduce");
  EXPECT_EQ(options.sizes.min, 4U);
  EXPECT_EQ(options.sizes.max, 1U << 20U);
  EXPECT_FALSE(options.iterations || options.warmup || options.check || options.full || options.compare);
  EXPECT_EQ(options.algorithm, "auto");
}

TEST(CommandLine, TakesEveryOption) {
  const Options options = parse({"reduce", "-m", "8:1K", "-i", "20", "-x", "0", "-c", "-f", "--compare", "native",
                                 "--algorithm", "all", "--json", "a.json", "--plot", "a.svg", "--memory", "host"});
  EXPECT_EQ(options.sizes.max, 1024U);
  EXPECT_EQ(options.iterations, 20U);
  EXPECT_EQ(options.warmup, 0U);
  EXPECT_TRUE(options.check && options.full && options.compare);
  EXPECT_EQ(options.compare, Peer::mpi);
  EXPECT_EQ(options.memory, Memory::host);
  EXPECT_EQ(parse({"reduce", "--memory", "registered"}).memory, Memory::registered);
  EXPECT_EQ(options.algorithm, "all");
  EXPECT_EQ(options.json_file, "a.json");
  EXPECT_EQ(options.plot_file, "a.svg");
}

TEST(CommandLine, TakesReproducibleSumsButNotIntoATuningFile) {
  EXPECT_FALSE(parse({"allreduce"}).reproducible);
  EXPECT_TRUE(parse({"allreduce", "--reproducible"}).reproducible);
  EXPECT_THAT(refusal_of({"allreduce", "--reproducible", "--json", "a.json"}), HasSubstr("--reproducible"));
  EXPECT_EQ(parse({"allreduce", "--reproducible", "--compare", "plain"}).compare, Peer::plain);
  EXPECT_THAT(refusal_of({"allreduce", "--compare", "plain"}), HasSubstr("add --reproducible"));
}

TEST(CommandLine, TakesAllCollectives) {
  const Options options = parse({"all", "--algorithm", "native"});
  EXPECT_EQ(options.rows.data(), table().data());
  EXPECT_EQ(options.rows.size(), table().size());
}

TEST(CommandLine, MeasuresRegretOfOneCollectiveOrAll) {
  EXPECT_EQ(parse({"allreduce"}).measurement, Measurement::latency);
  EXPECT_EQ(parse({"regret"}).rows.size(), table().size());
  const Options options = parse({"regret", "bcast", "-m", "64K", "-i", "7", "-x", "3", "--json", "a.json"});
  EXPECT_EQ(options.measurement, Measurement::regret);
  ASSERT_EQ(options.rows.size(), 1U);
  EXPECT_EQ(options.rows[0].name, "bcast");
  EXPECT_EQ(options.sizes.max, 65536U);
  EXPECT_EQ(options.iterations, 7U);
  EXPECT_EQ(options.warmup, 3U);
  EXPECT_EQ(options.json_file, "a.json");
  EXPECT_TRUE(parse({"regret", "reduce", "--reproducible"}).reproducible);
}

TEST(CommandLine, MeasuresTheFloorOfOneCollectiveOrAll) {
  EXPECT_EQ(parse({"floor", "-m", "8:64"}).rows.size(), table().size());
  const Options options = parse({"floor", "scan"});
  EXPECT_EQ(options.measurement, Measurement::floor);
  ASSERT_EQ(options.rows.size(), 1U);
  EXPECT_EQ(options.rows[0].name, "scan");
}

TEST(CommandLine, MeasuresTheOverlapOfOneCollectiveOrAll) {
  const Options every = parse({"overlap", "-m", "8:64"});
  EXPECT_EQ(every.rows.size(), table().size());
  EXPECT_EQ(every.tests, 10U);
  EXPECT_EQ(every.compute, Compute::busy);
  EXPECT_FALSE(every.compare || every.full);
  const Options options = parse(
      {"overlap", "bcast", "--tests", "3", "--compute", "sleep", "--compare", "native", "-f", "--json", "a.json"});
  EXPECT_EQ(options.measurement, Measurement::overlap);
  ASSERT_EQ(options.rows.size(), 1U);
  EXPECT_EQ(options.rows[0].name, "bcast");
  EXPECT_EQ(options.tests, 3U);
  EXPECT_EQ(options.compute, Compute::sleep);
  EXPECT_TRUE(options.compare && options.full);
  EXPECT_EQ(options.json_file, "a.json");
}

TEST(CommandLine, MeasuresTheStrategies) {
  EXPECT_FALSE(parse({"strategies"}).replicas.has_value());
  const Options options = parse({"strategies", "--replicas", "4", "-m", "8:64", "-i", "3", "--compute", "sleep"});
  EXPECT_EQ(options.measurement, Measurement::strategies);
  EXPECT_EQ(options.replicas, 4);
  EXPECT_EQ(options.sizes.max, 64U);
  EXPECT_EQ(options.iterations, 3U);
  EXPECT_EQ(options.compute, Compute::sleep);
  EXPECT_EQ(refusal_of({"strategies", "--replicas", "0"}), "--replicas must be at least 1, not 0");
  EXPECT_EQ(refusal_of({"strategies", "--replicas", "100000"}), "--replicas must be at most 1024");
  EXPECT_THAT(refusal_of({"strategies", "allreduce"}), HasSubstr("allreduce"));
  EXPECT_THAT(refusal_of({"bcast", "--replicas", "2"}), HasSubstr("--replicas"));
  EXPECT_THAT(refusal_of({"strategy"}), HasSubstr("did you mean \"strategies\"?"));
}

TEST(CommandLine, TakesMemoryOfDevices) {
  const Options options = parse({"bcast", "--memory", "device", "--algorithm", "staged", "--json", "a.json"});
  EXPECT_EQ(options.memory, Memory::device);
  EXPECT_EQ(options.algorithm, "staged");
  EXPECT_FALSE(options.compare);
  EXPECT_EQ(parse({"all", "--memory", "device"}).rows.size(), 13U);
  EXPECT_EQ(parse({"regret", "--memory", "device"}).rows.size(), 13U);
  EXPECT_EQ(parse({"all", "--memory", "device", "--compare", "nccl"}).rows.size(), 8U);
  EXPECT_EQ(parse({"gather", "--memory", "device", "--compare", "nccl"}).compare, Peer::nccl);
  EXPECT_EQ(parse({"gatherv", "--memory", "device", "--compare", "native"}).compare, Peer::mpi);
}

TEST(CommandLine, RefusesWhatMemoryOfDevicesHasNot) {
  EXPECT_THAT(refusal_of({"scan", "--memory", "device"}),
              HasSubstr("--memory device: scan takes memory of the host alone; name one of bcast, reduce, "));
  EXPECT_THAT(refusal_of({"barrier", "--memory", "device"}), HasSubstr("barrier takes memory of the host alone"));
  EXPECT_THAT(refusal_of({"floor", "bcast", "--memory", "device"}), HasSubstr("leave out --memory device"));
  EXPECT_THAT(refusal_of({"overlap", "--memory", "device"}), HasSubstr("leave out --memory device"));
  EXPECT_EQ(refusal_of({"allreduce", "--memory", "device", "--algorithm", "ring"}),
            "--algorithm ring is for memory of the host; with --memory device there are ipc_one_shot, "
            "ipc_two_shot, nccl, staged");
  EXPECT_EQ(refusal_of({"allreduce", "--algorithm", "staged"}),
            "--algorithm staged is for memory of GPUs: add --memory device");
  EXPECT_THAT(refusal_of({"allreduce", "--memory", "device", "--algorithm", "stage"}),
              HasSubstr("did you mean \"staged\"?"));
  EXPECT_THAT(refusal_of({"allreduce", "--memory", "gpu"}), HasSubstr("gpu"));
}

TEST(CommandLine, ComparesWithNcclOnMemoryOfDevicesAlone) {
  EXPECT_EQ(refusal_of({"allreduce", "--compare", "nccl"}), "--compare nccl is of memory of GPUs: add --memory device");
  EXPECT_THAT(
      refusal_of({"allgatherv", "--memory", "device", "--compare", "nccl"}),
      HasSubstr("--compare nccl: NCCL has no allgatherv, whose blocks may differ in length; name one of bcast"));
  EXPECT_THAT(refusal_of({"overlap", "bcast", "--compare", "nccl"}), HasSubstr("nccl"));
}

TEST(CommandLine, ListsEveryCollectiveWithItsAlgorithms) {
  std::string text;
  ASSERT_FALSE(parse({"list"}, text));
  for (const std::string_view collective : collective_names()) {
    EXPECT_THAT("\n" + text, HasSubstr(fmt::format("\n{}\n  ", collective)));
  }
  EXPECT_THAT(text, testing::ContainsRegex("\nbcast\n(  .*\n)*  binomial +[^ \n]"));
  EXPECT_THAT(text, testing::ContainsRegex("\nallreduce\n(  .*\n)*  ring +[^ \n]"));
}

TEST(CommandLine, RefusesWhatItCannotDo) {
  EXPECT_THAT(refusal_of({}), HasSubstr("COLLECTIVE is required"));
  EXPECT_THAT(refusal_of({"alreduce"}), HasSubstr("unknown collective \"alreduce\"; did you mean \"allreduce\"?"));
  EXPECT_THAT(refusal_of({"lst"}), HasSubstr("did you mean \"list\"?"));
  EXPECT_THAT(refusal_of({"regrets"}), HasSubstr("did you mean \"regret\"?"));
  EXPECT_THAT(refusal_of({"regret", "alreduce"}), HasSubstr("did you mean \"allreduce\"?"));
  EXPECT_THAT(refusal_of({"regret", "bcast", "--algorithm", "line"}), HasSubstr("--algorithm"));
  EXPECT_THAT(refusal_of({"floor", "bcast", "--reproducible"}), HasSubstr("--reproducible"));
  EXPECT_EQ(refusal_of({"overlap", "bcast", "--tests", "0"}), "--tests must be at least 1, not 0");
  EXPECT_THAT(refusal_of({"overlap", "bcast", "--compute", "lazily"}), HasSubstr("lazily"));
  EXPECT_THAT(refusal_of({"overlap", "bcast", "--algorithm", "line"}), HasSubstr("--algorithm"));
  EXPECT_THAT(refusal_of({"bcast", "--tests", "5"}), HasSubstr("--tests"));
  EXPECT_THAT(refusal_of({"overlaps"}), HasSubstr("did you mean \"overlap\"?"));
  EXPECT_THAT(refusal_of({"allreduce", "--algorithm", "ring2"}),
              HasSubstr("unknown allreduce algorithm \"ring2\"; did you mean \"ring\"?"));
  EXPECT_THAT(refusal_of({"allreduce", "-m", "8:4"}), HasSubstr("-m: the smallest size"));
  EXPECT_EQ(refusal_of({"allreduce", "-i", "0"}), "-i must be at least 1, not 0");
  EXPECT_EQ(refusal_of({"allreduce", "-x", "-1"}), "-x must be at least 0, not -1");
  EXPECT_THAT(refusal_of({"allreduce", "-i", "ten"}), HasSubstr("ten"));
  EXPECT_THAT(refusal_of({"allreduce", "--compare", "gloo"}), HasSubstr("gloo"));
  EXPECT_EQ(refusal_of({"allreduce", "-i", "99999999999999999999"}), "-i must be at most 1000000000");
  EXPECT_THAT(refusal_of({"list", "-m", "8:4"}), HasSubstr("-m: the smallest size"));
  EXPECT_THAT(refusal_of({"barrier", "--plot", "a.svg"}), HasSubstr("barrier has no size"));
  EXPECT_EQ(refusal_of({"all", "--plot", "a.svg"}), "--plot draws one collective: name it instead of all");
  EXPECT_THAT(refusal_of({"all", "--algorithm", "ring"}), HasSubstr("unknown barrier algorithm \"ring\""));
}

TEST(CommandLine, RefusesWhatHasNoMeaningForTheCollective) {
  EXPECT_EQ(refusal_of({"barrier", "-m", "64"}), "-m: barrier has no size");
  EXPECT_EQ(refusal_of({"regret", "barrier", "-m", "64"}), "-m: barrier has no size");
  EXPECT_EQ(refusal_of({"barrier", "--reproducible"}), "--reproducible is of sums, and barrier has none");
  EXPECT_EQ(refusal_of({"bcast", "--reproducible"}), "--reproducible is of sums, and bcast has none");
  EXPECT_TRUE(parse({"all", "-m", "64", "--reproducible"}).reproducible);
  EXPECT_EQ(refusal_of({"list", "--json", "x"}), "list takes no --json");
  EXPECT_EQ(refusal_of({"list", "-c"}), "list takes no --validation");
}

TEST(CommandLine, RefusesEmptyFileNames) {
  for (const char* option : {"--json", "--plot"}) {
    EXPECT_EQ(refusal_of({"bcast", option, ""}), fmt::format("{}: an empty name is no file (see --help)", option));
  }
}

TEST(CommandLine, NamesTheFileForAPlot) {
  EXPECT_EQ(refusal_of({"bcast", "--plot", "a/x.png"}), "--plot writes SVG: name the file a/x.svg");
  EXPECT_EQ(refusal_of({"bcast", "--plot", "x"}), "--plot writes SVG: name the file x.svg");
}

TEST(CommandLine, WantsWholeNumbers) {
  EXPECT_EQ(refusal_of({"bcast", "-x", "abc"}), "--warmup: a whole number is wanted, not abc (see --help)");
  EXPECT_THAT(refusal_of({"bcast", "-i", "1.5"}), HasSubstr("a whole number is wanted, not 1.5"));
  EXPECT_THAT(refusal_of({"strategies", "--replicas", "two"}), HasSubstr("a whole number is wanted, not two"));
  EXPECT_THAT(refusal_of({"overlap", "bcast", "--tests", ""}), HasSubstr("a whole number is wanted"));
}

TEST(CommandLine, OffersASubcommandOnlyWhatItTakes) {
  const std::string refusal = refusal_of({"regret", "foo"});
  EXPECT_THAT(refusal, HasSubstr("allreduce"));
  for (const char* word : {"list", "regret", "floor", "overlap", "strategies"}) {
    EXPECT_THAT(refusal, Not(HasSubstr(word)));
  }
  EXPECT_THAT(refusal_of({"regret", "list"}), HasSubstr("unknown collective \"list\""));
}

TEST(CommandLine, NamesAllThatItDoesNotUnderstandInTheOrderTyped) {
  EXPECT_EQ(refusal_of({"allreduce", "-m", ""}), "--message-size: an empty text is no size (see --help)");
  EXPECT_EQ(refusal_of({"allreduce", "--nonsense"}), "not understood: --nonsense (see --help)");
  EXPECT_EQ(refusal_of({"allreduce", "--algoritm", "ring"}),
            "not understood: --algoritm ring; did you mean --algorithm? (see --help)");
  EXPECT_EQ(refusal_of({"overlap", "bcast", "--test=3"}),
            "not understood: --test=3; did you mean --tests? (see --help)");
  EXPECT_EQ(refusal_of({"overlap", "bcast", "--algoritm", "ring"}), "not understood: --algoritm ring (see --help)");
  EXPECT_EQ(refusal_of({"allreduce", "one", "two", "--three"}), "not understood: one two --three (see --help)");
  EXPECT_EQ(refusal_of({"--first", "overlap", "bcast", "second"}), "not understood: --first second (see --help)");
}

TEST(CommandLine, SaysWhichSubcommandDoesNotTakeAnOptionOfOthers) {
  EXPECT_EQ(refusal_of({"floor", "--compare", "native"}), "floor takes no --compare (see floor --help)");
  EXPECT_EQ(refusal_of({"floor", "bcast", "--algorithm=ring"}), "floor takes no --algorithm (see floor --help)");
  EXPECT_EQ(refusal_of({"regret", "--plot", "x.svg"}), "regret takes no --plot (see regret --help)");
  EXPECT_EQ(refusal_of({"strategies", "--compare", "native"}), "strategies takes no --compare (see strategies --help)");
  EXPECT_EQ(refusal_of({"overlap", "bcast", "-c"}), "overlap takes no -c (see overlap --help)");
}

TEST(CommandLine, RefusesWhatStandsBeforeTheNameOfASubcommand) {
  for (const std::initializer_list<const char*> arguments :
       {std::initializer_list<const char*>{"allreduce", "regret"}, {"--algorithm", "ring", "regret", "allreduce"}}) {
    EXPECT_THAT(refusal_of(arguments), HasSubstr("chorus-bench regret ..."));
  }
}

TEST(CommandLine, AnswersHelpAndVersionWithATextOnly) {
  std::string text;
  EXPECT_FALSE(parse({"--help"}, text));
  EXPECT_THAT(text, HasSubstr("What the numbers are"));
  EXPECT_FALSE(parse({"regret", "--help"}, text));
  EXPECT_THAT(text, HasSubstr("Regret "));
  EXPECT_FALSE(parse({"floor", "--help"}, text));
  EXPECT_THAT(text, HasSubstr("Floor "));
  EXPECT_FALSE(parse({"overlap", "--help"}, text));
  EXPECT_THAT(text, HasSubstr("Tested "));
  EXPECT_FALSE(parse({"--version"}, text));
  EXPECT_THAT(text, testing::StartsWith("chorus-bench "));
}

}  // namespace
}  // namespace chorus::bench
