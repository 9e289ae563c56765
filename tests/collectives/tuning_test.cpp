// SPDX-License-Identifier: Apache-2.0
#include "tunings.hpp"

#include <chorus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace chorus {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* prefix = "the tuning file is not used: ";

/// What is wrong with a tuning file; empty if nothing is.
std::string rejection(const std::string& text) {
  try {
    static_cast<void>(Tuning::parse(text));
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_environment);
    EXPECT_TRUE(error.message().starts_with(prefix)) << error.message();
    return error.message().substr(std::string(prefix).size());
  }
}

std::string of_links(const std::string& links) { return R"({"schema": 1, "links": )" + links + "}"; }
std::string of_measured(const std::string& row) { return R"({"schema": 1, "measured": [)" + row + "]}"; }

constexpr const char* row =
    R"({"collective": "bcast", "algorithm": "line", "ranks": 2, "nodes": 1, "ranks_per_node": 2, "bytes": 8, "median_us": 0.5,
        "p25_us": 0.4})";

TEST(Tuning, OfNoFileIsTheBuiltIn) {
  const Tuning tuning = Tuning::parse("");
  EXPECT_EQ(tuning.links.network.latency_us, LinkModel().network.latency_us);
  EXPECT_TRUE(tuning.measured.empty());
  EXPECT_TRUE(Tuning::parse(R"({"schema": 1})").measured.empty());
}

TEST(Tuning, TakesNoNameThatIsThereTwice) {
  const std::string twice = R"({"schema": 1, "links": {"task_us": 1, "shared_peer_us": 2, "task_us": 3}})";
  EXPECT_THAT(rejection(twice), HasSubstr("\"task_us\" is there twice in one object"));
  EXPECT_NO_THROW(static_cast<void>(Tuning::parse(of_links(R"({"node": {"latency_us": 3, "megabytes_per_second": 4},
                   "network": {"latency_us": 3, "megabytes_per_second": 4}})"))));
}

TEST(Tuning, ReadsEveryNumber) {
  const Tuning tuning = Tuning::parse(of_links(R"({
    "shared": {"latency_us": 1, "megabytes_per_second": 2},
    "node": {"latency_us": 3, "megabytes_per_second": 4},
    "network": {"latency_us": 5.5, "megabytes_per_second": 6e3},
    "shared_alone_megabytes_per_second": 2.5, "readers_at_once": 1.5, "readers_of_a_core": 1.25,
    "shared_peer_us": 7, "task_us": 8, "task_peer_us": 8.5, "reduce_megabytes_per_second": 9,
    "further_message": 0.5})"));
  EXPECT_EQ(tuning.links.shared.latency_us, 1);
  EXPECT_EQ(tuning.links.shared.megabytes_per_second, 2);
  EXPECT_EQ(tuning.links.node.latency_us, 3);
  EXPECT_EQ(tuning.links.node.megabytes_per_second, 4);
  EXPECT_EQ(tuning.links.network.latency_us, 5.5);
  EXPECT_EQ(tuning.links.network.megabytes_per_second, 6000);
  EXPECT_EQ(tuning.links.shared_alone_megabytes_per_second, 2.5);
  EXPECT_EQ(tuning.links.readers_at_once, 1.5);
  EXPECT_EQ(tuning.links.readers_of_a_core, 1.25);
  EXPECT_EQ(tuning.links.shared_peer_us, 7);
  EXPECT_EQ(tuning.links.task_us, 8);
  EXPECT_EQ(tuning.links.task_peer_us, 8.5);
  EXPECT_EQ(tuning.links.reduce_megabytes_per_second, 9);
  EXPECT_EQ(tuning.links.further_message, 0.5);
}

TEST(Tuning, ReadsWhatLongMessagesTakeAndThoseOfAllRanksOfANode) {
  const Tuning tuning = Tuning::parse(of_links(R"({
    "node": {"latency_us": 1, "megabytes_per_second": 2, "long_from": 4096, "long_latency_us": 3,
             "long_megabytes_per_second": 4},
    "network": {"latency_us": 5, "megabytes_per_second": 6},
    "network_by_all": {"latency_us": 7, "megabytes_per_second": 8}})"));
  EXPECT_EQ(tuning.links.node.of(4095), (Link{1, 2}));
  EXPECT_EQ(tuning.links.node.of(4096), (Link{3, 4}));
  EXPECT_EQ(tuning.links.network.of(1e12), (Link{5, 6}));
  EXPECT_EQ(tuning.links.network_by_all, (MessageLink{.latency_us = 7, .megabytes_per_second = 8}));
}

TEST(Tuning, TakesWhatAFileSaysOfDevicesForWhatWasMeasured) {
  const DevicePace pace{
      .copies_us = 1, .copies_megabytes_per_second = 2, .windows_us = 3, .windows_megabytes_per_second = 4};
  TuningFile file;
  file.text = of_links(R"({"windows": {"latency_us": 5, "megabytes_per_second": 6}})");
  const Tunings tunings(file, {}, {}, false, pace);
  const LinkModel& links = tunings.of({.collective = Collective::allreduce}).links;
  EXPECT_EQ(links.device, (Link{1, 2}));
  EXPECT_EQ(links.windows, (Link{5, 6}));
  const Call deterministic{.collective = Collective::allreduce, .repeatability = Repeatability::deterministic};
  EXPECT_EQ(tunings.of(deterministic).links.device, LinkModel().device) << "another run would measure it anew";
  EXPECT_EQ(tunings.of(deterministic).links.windows, (Link{5, 6}));
}

TEST(Tuning, TakesTheNetworkOfTheFileForThatOfAllRanksToo) {
  LinkModel measured;
  measured.network_by_all = {.latency_us = 100, .megabytes_per_second = 100};
  const std::string network = R"({"network": {"latency_us": 5, "megabytes_per_second": 6}})";
  EXPECT_EQ(Tuning::parse(of_links(network), measured).links.network_by_all, std::nullopt);
  EXPECT_EQ(Tuning::parse(of_links("{}"), measured).links.network_by_all, measured.network_by_all);
}

TEST(Tuning, TakesTheGainOfShortWaysWithTheNetworkThatItIsOf) {
  LinkModel measured;
  measured.to_next_gain = 3;
  const std::string network = R"("network": {"latency_us": 5, "megabytes_per_second": 6})";
  EXPECT_EQ(Tuning::parse(of_links("{" + network + "}"), measured).links.to_next_gain, 1);
  EXPECT_EQ(Tuning::parse(of_links("{" + network + R"(, "to_next_gain": 2})"), measured).links.to_next_gain, 2);
  EXPECT_EQ(Tuning::parse(of_links("{}"), measured).links.to_next_gain, 3);
}

constexpr const char* machine = R"({"schema": 1, "machine": {"mpi": "MPI 1", "processor": "a processor", "cores": 8,
  "nodes": 2, "ranks": 6, "ranks_per_node": 4, "crowded": true}, "links": {"task_us": 3}})";

TEST(Tuning, ReadsWhereItWasMeasured) {
  const Tuning::Machine read = Tuning::parse(machine).machine;
  EXPECT_EQ(read.site, (Site{.mpi = "MPI 1", .processor = "a processor", .cores = 8}));
  EXPECT_EQ(read.nodes, 2);
  EXPECT_EQ(read.ranks, 6);
  EXPECT_EQ(read.ranks_per_node, 4);
  EXPECT_EQ(read.crowded, true);
}

TEST(Tuning, TakesWhatRanksThatShareCoresHaveMeasuredForSuchAlone) {
  EXPECT_EQ(Tuning::parse(machine, {}, true).links.task_us, 3);
  EXPECT_EQ(Tuning::parse(machine, {}, false).links.task_us, LinkModel().task_us);
  const std::string measured = R"({"schema": 1, "machine": {"crowded": true}, "measured": [{"collective": "bcast",
    "algorithm": "line", "ranks": 2, "nodes": 1, "ranks_per_node": 2, "bytes": 8, "median_us": 1}]})";
  EXPECT_EQ(Tuning::parse(measured, {}, true).measured.size(), 1U);
  EXPECT_TRUE(Tuning::parse(measured, {}, false).measured.empty());
}

TEST(Tuning, RejectsAMachineThatIsNone) {
  const auto of_machine = [](const std::string& text) { return R"({"schema": 1, "machine": )" + text + "}"; };
  EXPECT_EQ(rejection(of_machine("7")), "\"machine\" must be an object");
  EXPECT_EQ(rejection(of_machine(R"({"mpi": 1})")), "\"mpi\" in \"machine\" must be a text");
  EXPECT_EQ(rejection(of_machine(R"({"cores": 0})")), "\"cores\" in \"machine\" must be a whole number, 1 or more");
  EXPECT_EQ(rejection(of_machine(R"({"crowded": 1})")), "\"crowded\" in \"machine\" must be true or false");
  EXPECT_THAT(rejection(of_machine(R"({"procesor": ""})")),
              StartsWith("unknown name \"procesor\" in \"machine\"; did you mean \"processor\"? There are "));
}

TEST(Tuning, ReadsWhatItHasWritten) {
  Tuning tuning;
  tuning.machine = {{"MPI 1", "a \"processor\"", 8}, 2, 6, 4, false};
  tuning.links.shared = {0.3, 123456.789};
  tuning.links.node = {.latency_us = 1.5,
                       .megabytes_per_second = 2,
                       .long_from = 4096,
                       .long_latency_us = 4,
                       .long_megabytes_per_second = 5};
  tuning.links.network.latency_us = 1.0 / 3;
  tuning.links.network_by_all = {.latency_us = 7, .megabytes_per_second = 8};
  tuning.links.reduce_megabytes_per_second = 9;
  tuning.measured = {{Collective::bcast, "line", 6, 2, 4, 8, 0.25},
                     {Collective::allreduce, "ring", 6, 2, 4, 1U << 22U, 4321.5}};
  const Tuning read = Tuning::parse(tuning.to_json());
  EXPECT_EQ(read.to_json(), tuning.to_json());
  EXPECT_EQ(read.machine.site, tuning.machine.site);
  EXPECT_EQ(read.links.shared, tuning.links.shared);
  EXPECT_EQ(read.links.node, tuning.links.node);
  EXPECT_EQ(read.links.network, tuning.links.network);
  EXPECT_EQ(read.links.network_by_all, tuning.links.network_by_all);
  EXPECT_EQ(read.links.reduce_megabytes_per_second, 9);
  ASSERT_EQ(read.measured.size(), 2U);
  EXPECT_EQ(read.measured[1].algorithm, "ring");
  EXPECT_EQ(read.measured[1].bytes, 1U << 22U);
  EXPECT_EQ(read.measured[1].median_us, 4321.5);
}

TEST(Tuning, WritesNothingThatIsBuiltIn) {
  EXPECT_EQ(Tuning().to_json(), "{\n \"schema\": 1\n}\n");
  Tuning tuning;
  tuning.links.task_us = 3;
  EXPECT_THAT(tuning.to_json(), testing::Not(HasSubstr("network")));
}

constexpr Pace no_pace = {};
constexpr NetworkPace no_network = {};

/// What is said of a file of such a text that the user has named; empty where it is used.
std::string refusal(const std::string& text, const Site& here) {
  try {
    const Tunings tunings({.path = "/a", .text = text, .installed = false, .here = here}, no_pace, no_network, true);
    EXPECT_EQ(tunings.warning(), "");
    EXPECT_EQ(tunings.of({}).links.task_us, 3);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_environment);
    return error.message();
  }
}

TEST(Tunings, RefuseAFileOfAnotherMachineOrMpi) {
  EXPECT_EQ(refusal(machine, {"MPI 1", "a processor", 8}), "");
  EXPECT_EQ(refusal(machine, {"MPI 2", "a processor", 8}),
            "the tuning file /a is not used: it was measured with MPI 1, and this is MPI 2; make one here with "
            "chorus-tune, or name another one by CHORUS_TUNING_FILE");
  EXPECT_THAT(refusal(machine, {"MPI 1", "another one", 8}), HasSubstr("measured on a processor, and this is another"));
  EXPECT_THAT(refusal(machine, {"MPI 1", "a processor", 9}), HasSubstr("machines of 8 cores, and this is one of 9;"));
}

TEST(Tunings, CompareNothingThatIsNotKnown) {
  EXPECT_EQ(refusal(machine, {}), "") << "threads use no MPI";
  EXPECT_EQ(refusal(R"({"schema": 1, "links": {"task_us": 3}})", {"MPI 2", "another one", 9}), "") << "by hand";
}

TEST(Tunings, NameTheFileThatIsBroken) {
  EXPECT_THAT(refusal("{", {}),
              AllOf(StartsWith("the tuning file /a is not used: parse error at line 1, column 2"),
                    EndsWith("; make one here with chorus-tune, or name another one by CHORUS_TUNING_FILE")));
}

TEST(Tunings, GoOnWithoutTheFileOfAnInstallationAndWarn) {
  for (const std::string text : {machine, "{"}) {
    const Tunings tunings({.path = "/a", .text = text, .installed = true, .here = {"MPI 2", "", 0}}, no_pace,
                          no_network, true);
    EXPECT_THAT(tunings.warning(), StartsWith("the tuning file /a is not used: "));
    EXPECT_THAT(tunings.warning(), HasSubstr("chorus-tune, remove it, or name another one by CHORUS_TUNING_FILE"));
    EXPECT_EQ(tunings.of({}).links.task_us, LinkModel().task_us);
  }
}

TEST(Tunings, TakeTheNetworkThatWasMeasuredAndElseThatOfTheFile) {
  const NetworkPace network = {50, 100, 80, 200};
  const std::string file = R"({"schema": 1, "links": {"network": {"latency_us": 5, "megabytes_per_second": 6}}})";
  const auto links = [&](const std::string& text, Repeatability repeatability, const NetworkPace& measured) {
    const Tunings tunings({.path = {}, .text = text, .installed = false, .here = {}}, no_pace, measured, false);
    return tunings.of({.repeatability = repeatability}).links;
  };
  EXPECT_EQ(links("", Repeatability::none, network).network.of(8), (Link{50, 100}));
  EXPECT_EQ(links("", Repeatability::none, network).network_by_all->of(8), (Link{80, 200}));
  EXPECT_EQ(links(file, Repeatability::none, network).network.of(8), (Link{50, 100}))
      << "where the file holds nobody measures";
  EXPECT_EQ(links(file, Repeatability::none, {}).network.of(8), (Link{5, 6}));
  EXPECT_EQ(links(file, Repeatability::deterministic, network).network.of(8), (Link{5, 6}));
  EXPECT_EQ(links("", Repeatability::deterministic, network).network, LinkModel().network)
      << "another run would measure anew";
}

TEST(Tuning, KeepsTheBuiltInOfWhatIsLeftOut) {
  const Tuning tuning = Tuning::parse(of_links(R"({"task_us": 3})"));
  EXPECT_EQ(tuning.links.task_us, 3);
  EXPECT_EQ(tuning.links.node.megabytes_per_second, LinkModel().node.megabytes_per_second);
}

TEST(Tuning, ReadsLinesOfTheBenchmark) {
  const Tuning tuning = Tuning::parse(of_measured(row));
  ASSERT_EQ(tuning.measured.size(), 1U);
  EXPECT_EQ(tuning.measured[0].collective, Collective::bcast);
  EXPECT_EQ(tuning.measured[0].algorithm, "line");
  EXPECT_EQ(tuning.measured[0].ranks, 2);
  EXPECT_EQ(tuning.measured[0].nodes, 1);
  EXPECT_EQ(tuning.measured[0].ranks_per_node, 2);
  EXPECT_EQ(tuning.measured[0].bytes, 8U);
  EXPECT_EQ(tuning.measured[0].median_us, 0.5);
}

TEST(Tuning, ReadsALineOfWhatTheLibraryChose) {
  EXPECT_EQ(
      rejection(of_measured(
          R"({"collective": "bcast", "algorithm": "auto", "ranks": 2, "nodes": 2, "ranks_per_node": 1, "bytes": 0, "median_us": 1})")),
      "");
}

TEST(Tuning, NamesLineAndColumnOfWhatIsNoJson) {
  EXPECT_THAT(rejection("{\n  \"schema\": 1,\n  links\n}"), HasSubstr("parse error at line 3, column 3"));
  EXPECT_THAT(rejection("{"), HasSubstr("parse error at line 1, column 2"));
  EXPECT_THAT(rejection("{} {}"), HasSubstr("parse error at line 1, column 4"));
  EXPECT_THAT(rejection("\"\xFF\""), HasSubstr("ill-formed UTF-8"));
  EXPECT_THAT(rejection(of_links(R"({"task_us": 1e999})")), HasSubstr("1e999"));
}

TEST(Tuning, RejectsWhatIsNoTuningFile) {
  EXPECT_EQ(rejection("[]"), "the file must be an object");
  EXPECT_EQ(rejection("null"), "the file must be an object");
  EXPECT_EQ(rejection("{}"), "\"schema\" is missing in the file");
  EXPECT_EQ(rejection(R"({"schema": 2})"), "\"schema\" must be 1");
  EXPECT_EQ(rejection(R"({"schema": "1"})"), "\"schema\" must be 1");
  EXPECT_EQ(rejection(R"({"schema": true})"), "\"schema\" must be 1");
  EXPECT_EQ(rejection(R"({"schema": 1, "measured": {}})"), "\"measured\" must be an array");
  EXPECT_EQ(rejection(R"({"schema": 1, "measured": null})"), "\"measured\" must be an array");
  EXPECT_EQ(rejection(R"({"schema": 1, "links": 5})"), "\"links\" must be an object");
}

TEST(Tuning, NamesTheNearestOfAnUnknownName) {
  EXPECT_THAT(rejection(R"({"schema": 1, "measurd": []})"),
              StartsWith("unknown name \"measurd\" in the file; did you mean \"measured\"? There are "));
  EXPECT_THAT(rejection(of_links(R"({"taskus": 1})")),
              StartsWith("unknown name \"taskus\" in \"links\"; did you mean \"task_us\"? There are "));
  EXPECT_THAT(rejection(of_links(R"({"node": {"latency": 1, "megabytes_per_second": 1}})")),
              StartsWith("unknown name \"latency\" in node; did you mean \"latency_us\"? There are "));
  EXPECT_THAT(rejection(of_measured(R"({"collective": "bacst"})")),
              StartsWith("unknown collective \"bacst\" in \"measured\"[0]; did you mean \"bcast\"? There are "));
  EXPECT_THAT(
      rejection(of_measured(R"({"collective": "allreduce", "algorithm": "rnig"})")),
      StartsWith("unknown algorithm \"rnig\" of allreduce in \"measured\"[0]; did you mean \"ring\"? There are "));
}

TEST(Tuning, RejectsLinksThatAreNone) {
  EXPECT_EQ(rejection(of_links(R"({"node": 3})")), "node must be an object");
  EXPECT_EQ(rejection(of_links(R"({"node": {"latency_us": 1}})")), "\"megabytes_per_second\" is missing in node");
  for (const std::string value : {"0", "-1", "-0.0", "\"1\"", "null", "[1]", "false"}) {
    EXPECT_EQ(rejection(of_links(R"({"task_us": )" + value + "}")),
              "\"task_us\" in \"links\" must be a number above 0");
    EXPECT_EQ(rejection(of_links(R"({"node": {"latency_us": 1, "megabytes_per_second": )" + value + "}}")),
              "\"megabytes_per_second\" in node must be a number above 0");
  }
}

TEST(Tuning, RejectsMeasurementsThatAreNone) {
  const auto with = [](const std::string& rest) {
    return of_measured(std::string(row) + R"(, {"collective": "bcast")" + rest + "}");
  };
  const std::string remedy = ": say where it was measured";
  EXPECT_EQ(rejection(of_measured("7")), "\"measured\"[0] must be an object");
  EXPECT_EQ(rejection(of_measured("{}")), "\"collective\" is missing in \"measured\"[0]");
  EXPECT_EQ(rejection(of_measured(R"({"collective": 7})")), "\"collective\" in \"measured\"[0] must be a text");
  EXPECT_EQ(rejection(with("")), "\"algorithm\" is missing in \"measured\"[1]");
  EXPECT_EQ(rejection(with(R"(, "algorithm": "line")")), "\"ranks\" is missing in \"measured\"[1]" + remedy);
  for (const std::string ranks : {"0", "-2", "2.5", "\"2\"", "null"}) {
    EXPECT_EQ(rejection(with(R"(, "algorithm": "line", "ranks": )" + ranks)),
              "\"ranks\" in \"measured\"[1] must be a whole number, 1 or more");
  }
  EXPECT_EQ(rejection(with(R"(, "algorithm": "line", "ranks": 2)")),
            "\"nodes\" is missing in \"measured\"[1]" + remedy);
  EXPECT_EQ(rejection(with(R"(, "algorithm": "line", "ranks": 2, "nodes": 1)")),
            "\"ranks_per_node\" is missing in \"measured\"[1]" + remedy);
  const std::string here = R"(, "algorithm": "line", "ranks": 2, "nodes": 1, "ranks_per_node": 2)";
  EXPECT_EQ(rejection(with(here)), "\"bytes\" is missing in \"measured\"[1]");
  for (const std::string bytes : {"-8", "8.5", "\"8\"", "1e30"}) {
    EXPECT_EQ(rejection(with(here + R"(, "bytes": )" + bytes)),
              "\"bytes\" in \"measured\"[1] must be a whole number, 0 or more");
  }
  EXPECT_EQ(rejection(with(here + R"(, "bytes": 8)")), "\"median_us\" is missing in \"measured\"[1]");
  EXPECT_EQ(rejection(with(here + R"(, "bytes": 8, "median_us": 0)")),
            "\"median_us\" in \"measured\"[1] must be a number above 0");
}

TEST(TunedTime, IsThatOfTheNearestSizeWithinAFactorOfTwo) {
  Tuning tuning;
  tuning.measured = {{Collective::allreduce, "ring", 4, 2, 3, 1024, 10},
                     {Collective::allreduce, "ring", 4, 2, 3, 4096, 30},
                     {Collective::allreduce, "line", 4, 2, 3, 2048, 7}};
  const auto time = [&](std::size_t count, int ranks = 4, std::string_view algorithm = "ring") {
    return tuning.microseconds({.call = {Collective::allreduce, DataType::uint8, ReduceOp::sum, 0, count},
                                .ranks = ranks,
                                .nodes = 2,
                                .largest_node = 3},
                               algorithm);
  };
  EXPECT_EQ(time(1024), 10);
  EXPECT_EQ(time(1500), 10);
  EXPECT_EQ(time(3000), 30);
  EXPECT_EQ(time(8000), 30);
  EXPECT_EQ(time(500), std::nullopt);
  EXPECT_EQ(time(10'000), std::nullopt);
  EXPECT_EQ(time(1024, 3), std::nullopt);
  EXPECT_EQ(time(1024, 4, "native"), std::nullopt);
  EXPECT_EQ(time(2048, 4, "line"), 7);
}

TEST(TunedTime, IsThatOfTheSameRanksOnTheSameNodes) {
  Tuning tuning;
  tuning.measured = {{Collective::allreduce, "ring", 16, 4, 4, 1024, 10}};
  const auto time = [&](int nodes, int largest_node) {
    return tuning.microseconds({.call = {Collective::allreduce, DataType::uint8, ReduceOp::sum, 0, 1024},
                                .ranks = 16,
                                .nodes = nodes,
                                .largest_node = largest_node},
                               "ring");
  };
  EXPECT_EQ(time(4, 4), 10);
  EXPECT_EQ(time(1, 16), std::nullopt) << "through shared memory";
  EXPECT_EQ(time(16, 1), std::nullopt);
  EXPECT_EQ(time(4, 13), std::nullopt) << "nearly all are on one node";
}

TEST(TunedTime, CountsTheBytesAsTheBenchmarkDoes) {
  Tuning tuning;
  tuning.measured = {{Collective::reduce_scatter_block, "ring", 8, 1, 8, 4096, 10}};
  const Call call{Collective::reduce_scatter_block, DataType::float64, ReduceOp::sum, 0, 64};
  EXPECT_EQ(tuning.microseconds({.call = call, .ranks = 8, .largest_node = 8}, "ring"), 10);
  tuning.measured = {{Collective::allgatherv, "ring", 8, 1, 8, 512, 20}};
  const Call of_all_blocks{Collective::allgatherv, DataType::float64, ReduceOp::sum, 0, 512};
  EXPECT_EQ(tuning.microseconds({.call = of_all_blocks, .ranks = 8, .largest_node = 8}, "ring"), 20);
}

}  // namespace
}  // namespace chorus
