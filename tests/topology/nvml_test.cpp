// SPDX-License-Identifier: Apache-2.0
// GPUs of which NVML tells what hwloc does not: doubles of it, and a machine that hwloc takes for this one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "nvml_double/nvml_double.hpp"
#include "topology/topology.hpp"

namespace chorus {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Link = Topology::Link;
using Object = Topology::Object;

constexpr std::uint64_t gigabyte = 1'000'000'000;
const char* const model = "NVIDIA H100 80GB HBM3";
const char* const model_of_hwloc = "GH100 [H100 SXM5 80GB]";

void collect(const Object& object, std::map<std::string, Object>& gpus) {
  if (object.kind == Topology::Kind::gpu) gpus[object.bus_id] = object;
  for (const Object& child : object.children) collect(child, gpus);
}

std::map<std::string, Object> gpus_of(const Topology& topology) {
  std::map<std::string, Object> gpus;
  collect(topology.machine, gpus);
  return gpus;
}

std::map<std::string, Object> gpus_here() { return gpus_of(Topology::of_this_machine(Topology::Devices::important)); }

class Nvml : public testing::Test {
 protected:
  Nvml() {
    unsetenv("NVML_DOUBLE");
    setenv("CHORUS_NVML_LIBRARY", NVML_DOUBLE, 1);
    machine(UNDESCRIBED_GPUS);
  }
  ~Nvml() override {
    EXPECT_EQ(test::nvml_double::running(), 0) << "it is shut down again";
    for (const char* const variable : {"NVML_DOUBLE", "CHORUS_NVML_LIBRARY", "HWLOC_XMLFILE", "HWLOC_THISSYSTEM"}) {
      unsetenv(variable);
    }
  }

  /// Puts the machine in a file in this one's place.
  static void machine(const char* file) {
    setenv("HWLOC_XMLFILE", file, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
  }
  static void pretend(const char* what) { setenv("NVML_DOUBLE", what, 1); }
};

void expect_undescribed(const std::map<std::string, Object>& gpus) {
  ASSERT_EQ(gpus.size(), 3U);
  for (const auto& [bus_id, gpu] : gpus) {
    EXPECT_EQ(gpu.bytes, 0U) << bus_id;
    EXPECT_THAT(gpu.links, IsEmpty()) << bus_id;
  }
  EXPECT_EQ(gpus.at("0000:00:06.0").model, model_of_hwloc);
}

TEST_F(Nvml, TellsModelMemoryAndLinks) {
  const auto gpus = gpus_here();
  const Object &first = gpus.at("0000:00:06.0"), &second = gpus.at("0000:00:07.0");
  EXPECT_EQ(first.model, model);
  EXPECT_EQ(second.model, model);
  EXPECT_EQ(first.bytes, std::uint64_t{80} << 30U);
  EXPECT_EQ(second.bytes, std::uint64_t{80} << 30U);
  EXPECT_THAT(first.links, ElementsAre(Link{.gpu = second.index, .bytes_per_second = 50 * gigabyte}));
  EXPECT_THAT(second.links, ElementsAre(Link{.gpu = first.index, .bytes_per_second = 50 * gigabyte}));
}

TEST_F(Nvml, LeavesOtherMakersGpusAlone) {
  const Object gpu = gpus_here().at("0000:00:08.0");
  EXPECT_EQ(gpu.model, "Aldebaran [Instinct MI210]");
  EXPECT_EQ(gpu.bytes, 0U);
  EXPECT_THAT(gpu.links, IsEmpty());
}

TEST_F(Nvml, LinksThroughASwitchWhatBothHaveToIt) {
  pretend("switch");
  const auto gpus = gpus_here();
  const Object &first = gpus.at("0000:00:06.0"), &second = gpus.at("0000:00:07.0");
  EXPECT_THAT(first.links, ElementsAre(Link{.gpu = second.index, .bytes_per_second = 400 * gigabyte}));
  EXPECT_THAT(second.links, ElementsAre(Link{.gpu = first.index, .bytes_per_second = 400 * gigabyte}));
}

TEST_F(Nvml, OfAnOldDriverTellsWhatItKnows) {
  setenv("CHORUS_NVML_LIBRARY", NVML_DOUBLE_OLD, 1);
  EXPECT_EQ(gpus_here().at("0000:00:06.0").links.size(), 1U);
  pretend("switch");
  const Object gpu = gpus_here().at("0000:00:06.0");
  EXPECT_EQ(gpu.model, model);
  EXPECT_THAT(gpu.links, IsEmpty());
}

TEST_F(Nvml, KnowsNoLinksOfUnknownSpeed) {
  pretend("no speed");
  const Object gpu = gpus_here().at("0000:00:06.0");
  EXPECT_EQ(gpu.model, model);
  EXPECT_THAT(gpu.links, IsEmpty());
}

TEST_F(Nvml, TellsOfTheGpusThatItIsLeft) {
  pretend("no second");
  const auto gpus = gpus_here();
  EXPECT_EQ(gpus.at("0000:00:06.0").model, model);
  EXPECT_THAT(gpus.at("0000:00:06.0").links, IsEmpty());
  EXPECT_EQ(gpus.at("0000:00:07.0").model, model_of_hwloc);
}

TEST_F(Nvml, IsDoneWithoutWhereItDoesNotStart) {
  pretend("no start");
  expect_undescribed(gpus_here());
}

TEST_F(Nvml, IsDoneWithoutWhereItIsMissingOrLacksAFunction) {
  setenv("CHORUS_NVML_LIBRARY", "/no/such/nvml.so", 1);
  expect_undescribed(gpus_here());
  setenv("CHORUS_NVML_LIBRARY", NVML_DOUBLE_BROKEN, 1);
  expect_undescribed(gpus_here());
}

TEST_F(Nvml, IsNotAskedOfAnotherMachine) {
  const int before = test::nvml_double::starts();
  unsetenv("HWLOC_THISSYSTEM");
  expect_undescribed(gpus_here());
  expect_undescribed(gpus_of(Topology::described_by(UNDESCRIBED_GPUS)));
  EXPECT_EQ(gpus_of(Topology::described_by("pack:2 core:2 pu:1")).size(), 0U);
  EXPECT_EQ(test::nvml_double::starts(), before);
}

TEST_F(Nvml, IsNotAskedWhereNothingIsMissing) {
  const int before = test::nvml_double::starts();
  machine(FOUR_GPUS);
  EXPECT_EQ(gpus_here().size(), 4U);
  machine(UNDESCRIBED_GPUS);
  EXPECT_EQ(gpus_of(Topology::of_this_machine()).size(), 0U) << "without devices";
  EXPECT_EQ(test::nvml_double::starts(), before);
  EXPECT_EQ(gpus_here().size(), 3U);
  EXPECT_EQ(test::nvml_double::starts(), before + 1);
}

}  // namespace
}  // namespace chorus
