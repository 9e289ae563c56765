// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "made_up_job.hpp"
#include "pu_list.hpp"
#include "svg.hpp"
#include "text.hpp"
#include "topology_json.hpp"

namespace chorus::info {
namespace {

/// 2 packages x 2 NUMA domains x 2 L3 x 2 cores x 2 PUs, PUs 20 to 26 not allowed, with every kind of binding.
Survey mixed() {
  Topology topology = Topology::described_by("pack:2 numa:2 l3:2 core:2 pu:2");
  for (int pu = 20; pu <= 26; ++pu) topology.allowed.reset(static_cast<std::size_t>(pu));
  MadeUpJob job;
  job.machine(topology);
  job.rank("node01", 0, 1);  // a core
  job.rank("node01", 2, 2);  // a PU, twice
  job.rank("node01", 2, 2);
  job.rank("node01", 3, 3);    // the other PU of that core
  job.rank("node01", 4, 7);    // an L3
  job.rank("node01", 8, 15);   // a NUMA domain
  job.rank("node01", 0, 15);   // a package
  job.rank("node01", 0, 31);   // everything
  job.rank("node01", 28, 30);  // a core and a half
  return job.survey();
}

/// Two hosts that are the same machine, and one that is another and has two ranks on one of its cores.
Survey several_hosts() {
  MadeUpJob job;
  job.machine(Topology::described_by("pack:2 core:2 pu:1"));
  for (const char* const host : {"node01", "node02"}) {
    for (int core = 0; core < 4; ++core) job.rank(host, core, core);
  }
  job.machine(Topology::described_by("pack:1 core:4 pu:1"));
  job.rank("odd <&> \"name\"", 1, 1);
  job.rank("odd <&> \"name\"", 1, 1);
  return job.survey();
}

TEST(TopologyText, ShowsEveryRankAtItsPlace) {
  EXPECT_EQ(report_text(mixed()), R"(node01: 2 packages, 16 cores, 32 PUs, 4 GB
  whole machine                                             rank 7  pid 4007, not bound
  Package 0                                                 rank 6  pid 4006
    NUMA 0 (1 GB)
      L3 0 (16 MB)
        Core 0 (PU 0 1)                                     rank 0  pid 4000
        Core 1 (PU 2 3) [oversubscribed: 2 ranks on PU 2]   rank 1  pid 4001, PU 2
                                                            rank 2  pid 4002, PU 2
                                                            rank 3  pid 4003, PU 3
      L3 1 (16 MB)  Cores 2-3 (PU 4-7)                      rank 4  pid 4004
    NUMA 1 (1 GB)                                           rank 5  pid 4005
      L3 2 (16 MB)  Cores 4-5 (PU 8-11)
      L3 3 (16 MB)  Cores 6-7 (PU 12-15)
  Package 1
    NUMA 2 (1 GB)
      L3 4 (16 MB)  Cores 8-9 (PU 16-19)
      L3 5 (16 MB)  Cores 10-11 (PU 20-23) [not allowed]
    NUMA 3 (1 GB)
      L3 6 (16 MB)
        Core 12 (PU 24 25) [not allowed]
        Core 13 (PU 26 27) [PU 26 not allowed]
      L3 7 (16 MB)  Cores 14-15 (PU 28-31)                  rank 8  pid 4008, PU 28-30

divided by package into 3, by NUMA into 5, by L3 into 6
9 ranks, 1 host, 13 cores allowed
)");
}

TEST(TopologyText, ShowsIdenticalMachinesOnce) {
  EXPECT_EQ(report_text(several_hosts()), R"(node01 node02: 2 packages, 4 cores, 4 PUs, 1 GB; NUMA 0
  Package 0
    Core 0 (PU 0)   rank 0  node01 pid 4000
                    rank 4  node02 pid 4004
    Core 1 (PU 1)   rank 1  node01 pid 4001
                    rank 5  node02 pid 4005
  Package 1
    Core 2 (PU 2)   rank 2  node01 pid 4002
                    rank 6  node02 pid 4006
    Core 3 (PU 3)   rank 3  node01 pid 4003
                    rank 7  node02 pid 4007

odd <&> "name": 1 package, 4 cores, 4 PUs, 1 GB
  Package 0 (NUMA 0, 1 GB)
    Core 0 (PU 0)
    Core 1 (PU 1) [oversubscribed: 2 ranks on 1 PU]   rank 8  pid 4008
                                                      rank 9  pid 4009
    Cores 2-3 (PU 2 3)

divided by node into 3, by package into 5
10 ranks, 3 hosts, 12 cores allowed; oversubscribed: 2 ranks on 1 core of odd <&> "name"
)");
}

TEST(TopologyText, OfADescribedMachineHasNoRanks) {
  Survey survey;
  survey.machines.push_back({Topology::described_by("pack:1 l3:1 l2:2 l1:1 core:1 pu:2"), {}});
  survey.title = "a laptop";
  EXPECT_EQ(report_text(survey), R"(a laptop: 1 package, 2 cores, 4 PUs, 1 GB; each core: L2 4 MB, L1 32 KB
  Package 0 + L3 0 (16 MB; NUMA 0, 1 GB)  Cores 0-1 (PU 0-3)
)");
}

TEST(TopologyText, SaysThatUnboundRanksOversubscribeTheMachine) {
  MadeUpJob job;
  job.machine(Topology::described_by("pack:1 core:2 pu:1"));
  for (int rank = 0; rank < 3; ++rank) job.rank("node01", 0, 1);
  const std::string text = report_text(job.survey());
  EXPECT_NE(text.find("1 GB [oversubscribed: 3 ranks on 2 PUs]\n  whole machine   rank 0  pid 4000, not bound\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n3 ranks, 1 host, 2 cores allowed; oversubscribed: 3 ranks on 2 cores\n"), std::string::npos)
      << text;
}

/// What a rank tells that takes GPU `ordinal`, on `bus`.
GpuRecord taken(int ordinal, const std::string& bus, GpuDistance distance, const std::string& limit = "") {
  GpuRecord record{.ordinal = ordinal, .visible = 4, .distance = distance};
  bus.copy(record.bus_id.data(), record.bus_id.size() - 1);
  limit.copy(record.limit.data(), record.limit.size() - 1);
  return record;
}

/// Four ranks on the machine with four GPUs, two of which see one alone.
Survey with_gpus() {
  MadeUpJob job;
  job.machine(Topology::described_by(FOUR_GPUS));
  job.rank("node01", 0, 1);
  job.gpu(taken(0, "0000:1a:00.0", GpuDistance::beside));
  job.rank("node01", 4, 5);
  job.gpu(taken(1, "0000:2b:00.0", GpuDistance::numa));
  job.rank("node01", 8, 11);
  job.gpu(taken(0, "0000:3c:00.0", GpuDistance::package, "CUDA_VISIBLE_DEVICES=2"));
  job.rank("node01", 0, 15);
  job.gpu(taken(0, "0000:4d:00.0", GpuDistance::machine, "CUDA_VISIBLE_DEVICES=3"));
  return job.survey();
}

TEST(TopologyText, ShowsTheGpusAndWhoTakesThem) {
  const std::string text = report_text(with_gpus());
  EXPECT_NE(text.find(R"(    GPU cuda2
  GPU cuda0: 0000:1a:00.0, NVIDIA H100 80GB HBM3, 79.4 GB; NVLink to cuda1 at 50 GB/s, to cuda2 at 25 GB/s
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(
rank 0: GPU 0 (0000:1a:00.0), beside it
rank 1: GPU 1 (0000:2b:00.0), same NUMA domain
rank 2: GPU 0 (0000:3c:00.0), same package
rank 3: GPU 0 (0000:4d:00.0), same machine, rank not bound
GPUs seen: CUDA_VISIBLE_DEVICES=2 (rank 2); CUDA_VISIBLE_DEVICES=3 (rank 3)

divided by)"),
            std::string::npos)
      << text;
}

TEST(TopologyText, SaysWhyNoGpuCanBeUsedAndNothingWhereThereIsNone) {
  MadeUpJob job;
  job.machine(Topology::described_by("pack:1 core:2 pu:1"));
  job.rank("node01", 0, 0);
  job.rank("node01", 1, 1);
  EXPECT_EQ(report_text(job.survey()).find("GPU"), std::string::npos);
  GpuRecord none;
  std::string("none: libcuda.so.1 cannot be loaded").copy(none.limit.data(), none.limit.size() - 1);
  MadeUpJob other;
  other.machine(Topology::described_by("pack:1 core:2 pu:1"));
  for (int rank = 0; rank < 2; ++rank) {
    other.rank("node01", rank, rank);
    other.gpu(none);
  }
  const std::string text = report_text(other.survey());
  EXPECT_NE(text.find("\nGPUs seen: none: libcuda.so.1 cannot be loaded\n"), std::string::npos) << text;
}

TEST(TopologyJson, GivesTheSameTopologyBack) {
  for (const Survey& survey : {mixed(), with_gpus()}) {
    const Topology topology = survey.machines.front().topology;
    const Topology read = topology_from_json(nlohmann::json::parse(to_json(topology).dump()));
    EXPECT_EQ(read.machine, topology.machine);
    EXPECT_EQ(read.allowed, topology.allowed);
    EXPECT_EQ(read.here, topology.here);
    EXPECT_EQ(digest(read), digest(topology));
  }
}

TEST(TopologyJson, HasTheGpuOfEachRank) {
  const auto report = nlohmann::json::parse(report_json(with_gpus()).dump());
  EXPECT_EQ(report["ranks"][1].at("gpu").at("bus_id"), "0000:2b:00.0");
  EXPECT_EQ(report["ranks"][1].at("gpu").at("distance"), "same NUMA domain");
  EXPECT_EQ(report["ranks"][1].at("gpu").at("visible"), 4);
  EXPECT_FALSE(report["ranks"][1].contains("gpus_seen"));
  EXPECT_EQ(report["ranks"][2].at("gpus_seen"), "CUDA_VISIBLE_DEVICES=2");
  EXPECT_FALSE(nlohmann::json(report_json(mixed()))["ranks"][0].contains("gpu"));
}

TEST(TopologyJson, RefusesWhatIsNoTopology) {
  for (const char* const text :
       {"{}", "[]", "3", R"({"machine": {"kind": "sock", "index": 0}, "allowed": "0", "here": true})",
        R"({"machine": {"kind": "machine", "index": 0, "pus": "0-"}, "allowed": "0", "here": true})",
        R"({"machine": {"kind": "machine", "index": "one"}, "allowed": "0", "here": true})"}) {
    EXPECT_THROW((void)topology_from_json(nlohmann::json::parse(text)), Error) << text;
  }
}

TEST(TopologyJson, HasMachinesHostsRanksAndSplits) {
  const auto report = nlohmann::json::parse(report_json(several_hosts()).dump());
  EXPECT_EQ(report.at("schema"), report_schema);
  ASSERT_EQ(report.at("machines").size(), 2U);
  EXPECT_EQ(report["machines"][0].at("hosts"), nlohmann::json({0, 1}));
  EXPECT_EQ(report["machines"][1].at("machine").at("pus"), "0-3");
  ASSERT_EQ(report.at("hosts").size(), 3U);
  EXPECT_FALSE(report["hosts"][0].at("oversubscribed"));
  EXPECT_TRUE(report["hosts"][2].at("oversubscribed"));
  EXPECT_EQ(report["hosts"][2].at("name"), "odd <&> \"name\"");
  ASSERT_EQ(report.at("ranks").size(), 10U);
  EXPECT_EQ(report["ranks"][6].at("host"), 1);
  EXPECT_EQ(report["ranks"][6].at("pus"), "2");
  EXPECT_EQ(report["ranks"][6].at("inside").at("package"), 1);
  ASSERT_EQ(report.at("splits").size(), 2U);
  EXPECT_EQ(report["splits"][0].at("level"), "node");
  EXPECT_EQ(report["splits"][1].at("groups")[3].at("ranks"), nlohmann::json({6, 7}));
}

/// Empty where every element of `xml` is closed in order, else what is wrong.
std::string imbalance(const std::string& xml) {
  std::vector<std::string> open;
  std::size_t at = xml.find("?>");
  while ((at = xml.find('<', at)) != std::string::npos) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return "a tag without end";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    at = end;
    if (tag.find('<') != std::string::npos) return "a tag within a tag: " + tag;
    if (tag.ends_with('/')) continue;
    if (!tag.starts_with('/')) {
      open.push_back(tag.substr(0, tag.find(' ')));
    } else if (open.empty() || open.back() != tag.substr(1)) {
      return "unexpected " + tag;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(TopologySvg, TellsOfGpus) {
  const std::string svg = report_svg(with_gpus());
  EXPECT_EQ(imbalance(svg), "");
  EXPECT_NE(svg.find("0000:1a:00.0, NVIDIA H100 80GB HBM3"), std::string::npos);
  EXPECT_NE(svg.find("GPU 1 (0000:2b:00.0), same NUMA domain"), std::string::npos);
}

TEST(TopologySvg, IsWellFormedAndShowsEveryRank) {
  for (const Survey& survey : {mixed(), several_hosts()}) {
    const std::string svg = report_svg(survey);
    EXPECT_EQ(imbalance(svg), "");
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("odd <"), std::string::npos);
    for (const RankRecord& record : survey.ranks) {
      EXPECT_EQ(count(svg, fmt::format(">{}</text>", record.rank)), 1U) << record.rank;
    }
    EXPECT_NE(svg.find(">oversubscribed</text>"), std::string::npos);
  }
}

TEST(TopologySvg, CountsTheRanksItHasNoRoomFor) {
  MadeUpJob job;
  job.machine(Topology::described_by("pack:1 core:2 pu:1"));
  for (int rank = 0; rank < 100; ++rank) job.rank("node01", 0, 0);
  const std::string svg = report_svg(job.survey());
  int shown = 0;
  while (count(svg, fmt::format(">{}</text>", shown)) == 1) ++shown;
  EXPECT_GT(shown, 2);
  EXPECT_NE(svg.find(fmt::format(">+{}</text>", 100 - shown)), std::string::npos) << shown;
}

TEST(CpuList, IsReadAsItIsWritten) {
  for (const char* const list : {"", "0", "0-3", "0,2-3,1023", "5,7,9"}) {
    const auto pus = parse_cpu_list(list);
    ASSERT_TRUE(pus) << list;
    EXPECT_EQ(cpu_list(*pus), list);
  }
  for (const char* const list : {"a", "1-", "-1", "3-1", "1,", ",1", "1024", "1 2", "1--2"}) {
    EXPECT_FALSE(parse_cpu_list(list)) << list;
  }
}

}  // namespace
}  // namespace chorus::info
