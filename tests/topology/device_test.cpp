// SPDX-License-Identifier: Apache-2.0
#include <chorus/device.hpp>
#include <chorus/error.hpp>

#include <gtest/gtest.h>
#include <sched.h>

#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "topology/devices.hpp"

namespace chorus {
namespace {

static_assert(!std::is_copy_constructible_v<ThreadBinding> && !std::is_move_constructible_v<ThreadBinding>);

PuSet pus(int first, int last) {
  PuSet set;
  for (int pu = first; pu <= last; ++pu) set.set(static_cast<std::size_t>(pu));
  return set;
}

/// "/numa:0 {0 1} /numa:1 {2 3}".
std::string described(const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices) {
    if (!text.empty()) text += ' ';
    text += device.name();
    text += " {";
    for (const int pu : device.pus()) {
      if (text.back() != '{') text += ' ';
      text += std::to_string(pu);
    }
    text += "}";
  }
  return text;
}

std::string devices(const std::string& machine, const PuSet& usable) {
  return described(local_devices(Topology::described_by(machine), usable));
}

/// What the error says that parsing `name` throws there.
std::string rejection(const std::string& name, const Topology& machine, const PuSet& usable) {
  try {
    static_cast<void>(parse_device(name, machine, usable));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.message();
  }
  return "accepted";
}

TEST(LocalDevices, AreTheDomainsWhereThereAreTwo) {
  EXPECT_EQ(devices("pack:2 [numa] core:2 pu:2", pus(0, 7)), "/numa:0 {0 1 2 3} /numa:1 {4 5 6 7}");
  EXPECT_EQ(devices("pack:2 [numa] core:2 pu:2", pus(1, 4)), "/numa:0 {1 2 3} /numa:1 {4}");
  EXPECT_EQ(devices("pack:3 [numa] core:2 pu:1", pus(2, 5)), "/numa:1 {2 3} /numa:2 {4 5}");
}

TEST(LocalDevices, AreTheCoresElsewhere) {
  EXPECT_EQ(devices("core:3 pu:2", pus(0, 5)), "/cpu:0 {0 1} /cpu:1 {2 3} /cpu:2 {4 5}");
  EXPECT_EQ(devices("pack:2 [numa] core:2 pu:2", pus(4, 7)), "/cpu:2 {4 5} /cpu:3 {6 7}");
  EXPECT_EQ(devices("pack:2 [numa] core:2 pu:2", pus(3, 3)), "/cpu:1 {3}");
  EXPECT_EQ(devices("[numa] pack:2 core:1 pu:1", pus(0, 1)), "/cpu:0 {0} /cpu:1 {1}");
}

TEST(LocalDevices, ComeInTheOrderOfTheMachineByTheSystemsNumbers) {
  EXPECT_EQ(devices("pack:2 [numa] core:2 pu:1(indexes=0,2,1,3)", pus(0, 3)), "/numa:0 {0 2} /numa:1 {1 3}");
}

TEST(LocalDevices, AreNotAllowedWhereTheProcessIsNot) {
  Topology restricted = Topology::described_by("core:4 pu:1");
  restricted.allowed = pus(1, 2);
  EXPECT_EQ(described(local_devices(restricted, pus(0, 3))), "/cpu:1 {1} /cpu:2 {2}");
  EXPECT_EQ(described(local_devices(restricted, {})), "/cpu:1 {1} /cpu:2 {2}") << "the mask is not known";
}

TEST(LocalDevices, CountDomainsWithTheSameCoresOnce) {
  EXPECT_EQ(devices("pack:2 [numa] [numa] core:1 pu:1", pus(0, 1)), "/numa:0 {0} /numa:2 {1}");
  EXPECT_EQ(devices("[numa] pack:2 [numa] core:2 pu:1", pus(0, 3)).find("{0 1 2 3}"), std::string::npos)
      << "a memory that both packages share";
}

TEST(SharedDevices, AllHaveEveryCore) {
  const auto shared = [](int number, const std::string& machine, const PuSet& usable) {
    return described(shared_devices(number, Topology::described_by(machine), usable));
  };
  EXPECT_EQ(shared(3, "core:2 pu:1", pus(0, 1)), "/cpu:0 {0 1} /cpu:1 {0 1} /cpu:2 {0 1}");
  EXPECT_EQ(shared(1, "core:4 pu:1", pus(1, 3)), "/cpu:0 {1 2 3}") << "fewer than there are";
  EXPECT_EQ(shared(2, "pack:2 [numa] core:2 pu:1", pus(1, 2)), "/cpu:0 {1 2} /cpu:1 {1 2}");
}

TEST(SharedDevices, AreOneOrMoreAndCanBeBound) {
  for (const int number : {0, -1}) {
    try {
      static_cast<void>(shared_devices(number));
      ADD_FAILURE() << number;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(error.message().find("ask for 1 device or more"), std::string::npos) << error.message();
    }
  }
  std::set<int> all;
  for (const Device& device : local_devices()) all.insert(device.pus().begin(), device.pus().end());
  for (const Device& device : shared_devices(5)) {
    EXPECT_EQ(std::set<int>(device.pus().begin(), device.pus().end()), all);
    const ThreadBinding binding(device);
  }
}

TEST(LocalDevices, OfThisMachineCanBeParsedAndBound) {
  const std::vector<Device> here = local_devices();
  ASSERT_FALSE(here.empty());
  for (const Device& device : here) {
    EXPECT_EQ(Device::parse(device.name()), device);
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    {
      const ThreadBinding binding(device);
      cpu_set_t bound;
      sched_getaffinity(0, sizeof bound, &bound);
      EXPECT_EQ(static_cast<std::size_t>(CPU_COUNT(&bound)), device.pus().size());
      for (const int pu : device.pus()) EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(pu), &bound));
      EXPECT_EQ(local_devices(), here) << "what is bound does not count";
    }
    cpu_set_t after;
    sched_getaffinity(0, sizeof after, &after);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  }
}

TEST(Device, IsNamedByKindAndIndex) {
  EXPECT_EQ(Device(Device::Kind::cpu, 12, {3}).name(), "/cpu:12");
  EXPECT_EQ(Device(Device::Kind::numa, 0, {2, 0}).name(), "/numa:0");
  EXPECT_EQ(Device(Device::Kind::numa, 0, {2, 0}), Device(Device::Kind::numa, 0, {0, 2}));
  EXPECT_NE(Device(Device::Kind::numa, 0, {0}), Device(Device::Kind::cpu, 0, {0}));
  EXPECT_NE(Device(Device::Kind::cpu, 1, {0}), Device(Device::Kind::cpu, 0, {0}));
  EXPECT_THROW(Device(Device::Kind::cpu, -1, {0}), Error);
  EXPECT_THROW(Device(Device::Kind::cpu, 0, {}), Error);
  EXPECT_THROW(Device(Device::Kind::cpu, 0, {1, -1}), Error);
}

TEST(Device, IsParsedWhereThereIsOne) {
  const Topology machine = Topology::described_by("pack:2 [numa] core:3 pu:2");
  EXPECT_EQ(parse_device("/numa:1", machine, pus(0, 11)), Device(Device::Kind::numa, 1, {6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(parse_device("/cpu:5", machine, pus(0, 11)), Device(Device::Kind::cpu, 5, {10, 11}));
  EXPECT_EQ(parse_device("/numa:0", machine, pus(2, 3)), Device(Device::Kind::numa, 0, {2, 3}));
}

TEST(Device, ThatIsNotThereIsRefusedWithWhatIs) {
  const Topology machine = Topology::described_by("pack:2 [numa] core:3 pu:2");
  EXPECT_EQ(rejection("/gpu:0", machine, pus(0, 11)),
            "Device::parse: argument name is \"/gpu:0\"; here it may be one of /numa:0-1 and /cpu:0-5");
  EXPECT_EQ(rejection("/cpu:2", machine, pus(0, 1) | pus(6, 9)),
            "Device::parse: argument name is \"/cpu:2\"; here it may be one of /numa:0-1 and /cpu:0,3-4");
  for (const char* const name : {"", "/", "cpu:0", "/cpu", "/cpu:", "/cpu:-1", "/cpu:+1", "/cpu: 1", "/cpu:1 ",
                                 "/cpu:0x1", "/CPU:0", "/cpu:6", "/cpu:99999999999", "/numa:2", "/core:0"}) {
    EXPECT_NE(rejection(name, machine, pus(0, 11)), "accepted") << name;
  }
}

TEST(ThreadBinding, OfAPlaceThatIsNotThereIsRefused) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  std::vector<int> with_another = local_devices()[0].pus();
  with_another.push_back(1023);
  for (const std::vector<int>& wrong : {with_another, std::vector<int>{1022}, std::vector<int>{100'000}}) {
    try {
      const ThreadBinding binding(Device(Device::Kind::cpu, 7, wrong));
      ADD_FAILURE() << "it is bound";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(error.message().find("/cpu:7 with PUs "), std::string::npos) << error.message();
      EXPECT_NE(error.message().find("take one of local_devices()"), std::string::npos) << error.message();
    }
    cpu_set_t after;
    sched_getaffinity(0, sizeof after, &after);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  }
}

TEST(ThreadBinding, IsOfTheCallingThreadAlone) {
  const std::vector<Device> here = local_devices();
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  std::thread bound([&] {
    const ThreadBinding outer(here.front());
    const ThreadBinding inner(here.back());
  });
  bound.join();
  cpu_set_t after;
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

}  // namespace
}  // namespace chorus
