// SPDX-License-Identifier: Apache-2.0
#include "topology/gpu_distance.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "topology/devices.hpp"
#include "topology/topology.hpp"

namespace chorus {
namespace {

using Object = Topology::Object;

PuSet pus(int first, int last) {
  PuSet set;
  for (int pu = first; pu <= last; ++pu) set.set(static_cast<std::size_t>(pu));
  return set;
}

const Topology& four_gpus() {
  static const Topology topology = Topology::described_by(FOUR_GPUS);
  return topology;
}

void collect(const Object& object, std::map<std::string, Object>& gpus) {
  if (object.kind == Topology::Kind::gpu) gpus[object.name] = object;
  for (const Object& child : object.children) collect(child, gpus);
}

std::map<std::string, Object> gpus_of(const Topology& topology) {
  std::map<std::string, Object> gpus;
  collect(topology.machine, gpus);
  return gpus;
}

/// "cuda1 50, cuda3 25": in GB/s.
std::string links_of(const Topology& topology, const std::string& name) {
  const std::map<std::string, Object> gpus = gpus_of(topology);
  std::string text;
  for (const Topology::Link& link : gpus.at(name).links) {
    for (const auto& [peer, object] : gpus) {
      if (object.index != link.gpu) continue;
      text += (text.empty() ? "" : ", ") + peer + " " + std::to_string(link.bytes_per_second / 1'000'000'000);
    }
  }
  return text;
}

GpuDistance distance(const std::string& bus, int first, int last) {
  return gpu_distance(four_gpus(), "0000:" + bus + ":00.0", pus(first, last));
}

TEST(GpuDevice, HasThePusBesideIt) {
  const auto pus_of = [](const std::string& bus_id, const PuSet& usable) {
    Gpu gpu;
    gpu.ordinal = 3;
    gpu.bus_id = bus_id;
    const Device device = gpu_device(gpu, four_gpus(), usable);
    EXPECT_EQ(device.name(), "/gpu:3");
    return device.pus();
  };
  const PuSet beside = pus_beside(four_gpus(), "0000:4d:00.0");
  ASSERT_TRUE(beside.any() && beside != four_gpus().machine.pus);
  const std::vector<int> near = pus_of("0000:4d:00.0", four_gpus().machine.pus);
  EXPECT_EQ(near.size(), beside.count());
  for (const int pu : near) EXPECT_TRUE(beside[static_cast<std::size_t>(pu)]) << pu;
  EXPECT_EQ(pus_of("0000:4d:00.0", pus(near.back(), near.back())), std::vector{near.back()}) << "what may be used";
  EXPECT_EQ(pus_of("0000:4d:00.0", ~beside).size(), (four_gpus().allowed & ~beside).count()) << "none is beside it";
  EXPECT_EQ(pus_of("0000:ff:00.0", four_gpus().machine.pus).size(), four_gpus().allowed.count()) << "not known";
}

TEST(Gpus, AreDescribedByHwloc) {
  const Object gpu = gpus_of(four_gpus()).at("cuda1");
  EXPECT_EQ(gpu.bus_id, "0000:2b:00.0");
  EXPECT_EQ(gpu.vendor, nvidia);
  EXPECT_EQ(gpu.model, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.bytes, std::uint64_t{83295872} * 1024);
  EXPECT_EQ(gpus_of(four_gpus()).size(), 4U) << "the switch is none";
}

TEST(Gpus, AreLinked) {
  EXPECT_EQ(links_of(four_gpus(), "cuda0"), "cuda1 50, cuda2 25");
  EXPECT_EQ(links_of(four_gpus(), "cuda1"), "cuda0 50, cuda3 25");
  EXPECT_TRUE(gpus_of(Topology::described_by("pack:2 core:2 pu:1")).empty());
}

TEST(Gpus, AreLinkedThroughASwitch) {
  std::ifstream file(FOUR_GPUS);
  std::string xml(std::istreambuf_iterator<char>(file), {});
  xml.erase(xml.find(" <distances2"));
  const std::string path = testing::TempDir() + "chorus_switch_" + std::to_string(getpid()) + ".xml";
  std::ofstream(path) << xml << R"(<distances2hetero nbobjs="5" kind="25" name="NVLinkBandwidth" indexing="gp">
<indexes length="51">OSDev:104 OSDev:108 OSDev:116 OSDev:112 PCIDev:118 </indexes>
<u64values length="42">1000000 0 0 0 450000 0 1000000 0 0 450000 </u64values>
<u64values length="42">0 0 1000000 0 450000 0 0 0 1000000 450000 </u64values>
<u64values length="36">450000 450000 450000 450000 1000000 </u64values>
</distances2hetero></topology>)";
  const Topology topology = Topology::described_by(path);
  unlink(path.c_str());
  EXPECT_EQ(links_of(topology, "cuda0"), "cuda1 450, cuda3 450, cuda2 450");
}

TEST(GpuDistance, IsTheSmallestPartThatHoldsBoth) {
  EXPECT_EQ(distance("1a", 0, 0), GpuDistance::beside);
  EXPECT_EQ(distance("1a", 0, 1), GpuDistance::beside);
  EXPECT_EQ(distance("1a", 1, 2), GpuDistance::numa) << "in part under another L3";
  EXPECT_EQ(distance("1a", 2, 3), GpuDistance::numa);
  EXPECT_EQ(distance("1a", 4, 4), GpuDistance::package);
  EXPECT_EQ(distance("1a", 8, 8), GpuDistance::machine);
  EXPECT_EQ(distance("1a", 7, 8), GpuDistance::machine) << "on both packages";
  EXPECT_EQ(distance("2b", 6, 7), GpuDistance::numa);
  EXPECT_EQ(distance("2b", 3, 3), GpuDistance::package);
  EXPECT_EQ(distance("3c", 8, 8), GpuDistance::package) << "belongs to no domain";
  EXPECT_EQ(distance("3c", 15, 15), GpuDistance::package);
  EXPECT_EQ(distance("3c", 0, 0), GpuDistance::machine);
  EXPECT_EQ(distance("1a", 0, 15), GpuDistance::machine);
}

TEST(GpuDistance, IsNotKnownWithoutItsPlace) {
  EXPECT_EQ(distance("ff", 0, 0), GpuDistance::unknown);
  EXPECT_EQ(gpu_distance(Topology::described_by("core:2 pu:1"), "0000:1a:00.0", pus(0, 0)), GpuDistance::unknown);
  EXPECT_EQ(cost_of(GpuDistance::unknown), cost_of(GpuDistance::machine));
}

TEST(GpuDistance, IsThatOfTheOnlyDomainOrPackage) {
  Topology topology = Topology::described_by("pack:1 core:4 pu:1");  // the domain stands beside the package
  Object gpu;
  gpu.kind = Topology::Kind::gpu;
  gpu.bus_id = "0000:01:00.0";
  topology.machine.children.push_back(gpu);
  EXPECT_EQ(gpu_distance(topology, gpu.bus_id, pus(0, 0)), GpuDistance::numa);
  EXPECT_EQ(gpu_distance(topology, gpu.bus_id, pus(0, 3)), GpuDistance::numa);
  Topology large = Topology::described_by("[numa] pack:2 core:2 pu:1");  // a domain that holds packages is no level
  large.machine.children[1].children.push_back(gpu);
  EXPECT_EQ(gpu_distance(large, gpu.bus_id, pus(0, 0)), GpuDistance::package);
  EXPECT_EQ(gpu_distance(large, gpu.bus_id, pus(2, 2)), GpuDistance::machine);
}

}  // namespace
}  // namespace chorus
