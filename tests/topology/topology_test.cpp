// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.hpp"

#include <chorus/error.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace chorus {
namespace {

using Kind = Topology::Kind;
using Object = Topology::Object;

int count(const Object& object, Kind kind) {
  int found = object.kind == kind ? 1 : 0;
  for (const Object& child : object.children) found += count(child, kind);
  return found;
}

/// A file that is gone at the end of the test.
class File {
 public:
  explicit File(const std::string& text)
      : path_(testing::TempDir() + "chorus_topology_" + std::to_string(getpid()) + ".xml") {
    std::ofstream(path_) << text;
  }
  ~File() { unlink(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// One package with one core of two PUs, the second of them not allowed, a network card and a GPU.
const char* const xml = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
 <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x1" nodeset="0x1"
         complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
  <object type="Package" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1"
          gp_index="2">
   <info name="CPUModel" value="Example 9000"/>
   <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1"
           gp_index="3" local_memory="8589934592"/>
   <object type="Core" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" complete_nodeset="0x1"
           gp_index="4">
    <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1"
            gp_index="5"/>
    <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1" complete_nodeset="0x1"
            gp_index="6"/>
   </object>
  </object>
  <object type="Bridge" gp_index="7" bridge_type="0-1" depth="0" bridge_pci="0000:[00-02]">
   <object type="PCIDev" gp_index="8" pci_busid="0000:01:00.0" pci_type="0200 [8086:1572] [0000:0000] 01"
           pci_link_speed="0.0">
    <object type="OSDev" gp_index="9" name="eth0" osdev_type="2"/>
   </object>
   <object type="PCIDev" gp_index="10" pci_busid="0000:02:00.0" pci_type="0302 [10de:2335] [0000:0000] 01"
           pci_link_speed="0.0">
    <object type="OSDev" gp_index="11" name="nvml0" osdev_type="1"/>
    <object type="OSDev" gp_index="12" name="cuda0" osdev_type="5"/>
   </object>
   <object type="PCIDev" gp_index="13" pci_busid="0000:02:01.0" pci_type="0300 [1a03:2000] [0000:0000] 01"
           pci_link_speed="0.0">
    <object type="OSDev" gp_index="14" name="card0" osdev_type="1"/>
   </object>
  </object>
 </object>
</topology>
)";

TEST(Topology, OfThisMachineHasItsUnitsAndNoDevices) {
  const Topology here = Topology::of_this_machine();
  EXPECT_TRUE(here.here);
  EXPECT_GE(count(here.machine, Kind::pu), 1);
  EXPECT_EQ(count(here.machine, Kind::pu), static_cast<int>(here.machine.pus.count()));
  EXPECT_TRUE((here.allowed & ~here.machine.pus).none());
  EXPECT_TRUE(here.allowed.any());
  EXPECT_EQ(count(here.machine, Kind::network), 0);
}

TEST(Topology, OfThisMachineIsWhatTheEnvironmentPutsInItsPlace) {
  setenv("HWLOC_SYNTHETIC", "pack:3 core:5 pu:1", 1);
  const Topology described = Topology::of_this_machine();
  unsetenv("HWLOC_SYNTHETIC");
  EXPECT_FALSE(described.here);
  EXPECT_EQ(count(described.machine, Kind::core), 15);
}

TEST(Topology, OfASyntheticDescriptionHasEveryObject) {
  const Topology topology = Topology::described_by("pack:2 numa:2 l3:2 l2:4 core:1 pu:2");
  EXPECT_FALSE(topology.here);
  EXPECT_EQ(topology.allowed.count(), 64U);
  EXPECT_EQ(count(topology.machine, Kind::package), 2);
  EXPECT_EQ(count(topology.machine, Kind::numa), 4);
  EXPECT_EQ(count(topology.machine, Kind::group), 0);
  EXPECT_EQ(count(topology.machine, Kind::l3), 8);
  EXPECT_EQ(count(topology.machine, Kind::l2), 32);
  EXPECT_EQ(count(topology.machine, Kind::core), 32);
  const Object& domain = topology.machine.children[1].children[0];
  EXPECT_EQ(domain.kind, Kind::numa);
  EXPECT_EQ(domain.index, 2);
  EXPECT_EQ(domain.os_index, 2);
  EXPECT_EQ(domain.bytes, std::uint64_t{1} << 30U);
  EXPECT_EQ(domain.children.size(), 2U);
}

TEST(Topology, PutsADomainBesideWhatItIsTheMemoryOf) {
  const Topology topology = Topology::described_by("pack:2 [numa] l3:2 core:2 pu:1");
  const Object& package = topology.machine.children[1];
  ASSERT_EQ(package.kind, Kind::package);
  ASSERT_EQ(package.children.size(), 3U);
  EXPECT_EQ(package.children[0].kind, Kind::numa);
  EXPECT_TRUE(package.children[0].children.empty());
  EXPECT_EQ(topology.smallest_cover(package.pus).kind, Kind::package);
  EXPECT_EQ(topology.place(package.pus).object(Level::numa), 1);
}

TEST(Topology, OfAFileHasDevicesAndForbiddenUnits) {
  const File file(xml);
  const Topology topology = Topology::described_by(file.path());
  EXPECT_EQ(topology.machine.pus.count(), 2U);
  EXPECT_EQ(topology.allowed.to_ulong(), 1U);
  EXPECT_EQ(topology.machine.children[0].name, "Example 9000");
  EXPECT_EQ(count(topology.machine, Kind::network), 1);
  ASSERT_EQ(count(topology.machine, Kind::gpu), 1);  // once, whatever its names; not the server's console
  EXPECT_EQ(topology.machine.children[1].name, "eth0");
  EXPECT_EQ(topology.machine.children[2].name, "cuda0");
}

TEST(Topology, FindsTheSmallestCover) {
  const Topology topology = Topology::described_by("pack:2 l3:2 core:2 pu:2");
  const auto cover = [&](unsigned long pus) { return topology.smallest_cover(PuSet(pus)).kind; };
  EXPECT_EQ(cover(0x1), Kind::pu);
  EXPECT_EQ(cover(0x3), Kind::core);
  EXPECT_EQ(cover(0x6), Kind::l3);
  EXPECT_EQ(cover(0x18), Kind::package);
  EXPECT_EQ(cover(0x180), Kind::machine);
}

TEST(Topology, LeavesOutUnitsBeyondTheLargestNumber) {
  const Topology topology = Topology::described_by("pack:2 core:1024 pu:1");
  EXPECT_EQ(topology.machine.pus.count(), static_cast<std::size_t>(max_pus));
  EXPECT_EQ(count(topology.machine, Kind::pu), max_pus);
}

TEST(Topology, SaysWhatIsWrongWithAnInput) {
  const File truncated(std::string(xml).substr(0, 900)), other("<note>hello</note>"), empty("");
  for (const std::string& input :
       {std::string("pack:2 socks:3"), std::string("pack:0 pu:2"), std::string("hello"), std::string("pack:two pu:2"),
        std::string(), std::string("numa:2 l3:2"), std::string("/no/such/machine.xml"), std::string("/"),
        truncated.path(), other.path(), empty.path()}) {
    try {
      (void)Topology::described_by(input);
      ADD_FAILURE() << "accepted \"" << input << '"';
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      const std::string message = error.what();
      EXPECT_NE(message.find("Topology::described_by: input \"" + input + '"'), std::string::npos) << message;
      EXPECT_NE(message.find("lstopo"), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace chorus
