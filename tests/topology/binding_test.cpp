// SPDX-License-Identifier: Apache-2.0
#include "topology/binding.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

#include "topology/topology.hpp"

namespace chorus {
namespace {

PuSet pus(std::initializer_list<int> numbers) {
  PuSet set;
  for (const int pu : numbers) set.set(pu);
  return set;
}

const Topology& machine() {
  static const Topology machine = Topology::described_by("pack:2 numa:1 l3:2 core:2 pu:2");  // PUs 2i, 2i+1: core i
  return machine;
}

Binding with_quota(std::initializer_list<int> numbers, double cores, std::uint64_t group) {
  Binding binding = machine().place(pus(numbers));
  binding.quota = {cores, group};
  return binding;
}

TEST(Binding, NamesTheObjectsThatHoldIt) {
  const Binding core = machine().place(pus({6, 7}));
  EXPECT_TRUE(core.bound);
  EXPECT_EQ(core.cores, pus({6}));
  EXPECT_EQ(core.object(Level::package), 0);
  EXPECT_EQ(core.object(Level::numa), 0);
  EXPECT_EQ(core.object(Level::l3), 1);
  EXPECT_EQ(core.object(Level::l2), -1);
  const Binding across = machine().place(pus({7, 8}));
  EXPECT_EQ(across.cores, pus({6, 8}));
  EXPECT_EQ(across.object(Level::package), -1);
  EXPECT_EQ(across.object(Level::l3), -1);
}

TEST(Binding, ThatNamesEveryUnitOrNoneIsUnbound) {
  const Binding all = machine().place(machine().allowed);
  EXPECT_FALSE(all.bound);
  EXPECT_EQ(all.pus.count(), 16U);
  const Binding none = machine().place({});
  EXPECT_FALSE(none.bound);
  EXPECT_EQ(none.pus, all.pus);
  EXPECT_EQ(machine().place(pus({3, 900})).pus, pus({3}));  // no such unit
}

TEST(Binding, LeavesOutWhatIsNotAllowed) {
  Topology restricted = machine();
  restricted.allowed = pus({0, 1, 2, 3});
  EXPECT_EQ(restricted.place(pus({3, 4, 5})).pus, pus({3}));
  EXPECT_FALSE(restricted.place(pus({0, 1, 2, 3, 4, 5})).bound);
  EXPECT_EQ(restricted.place(pus({8})).pus, restricted.allowed);
}

TEST(Binding, OfAThreadFollowsItsAffinity) {
  const Topology here = Topology::of_this_machine();
  std::thread([&] {
    const Binding before = current_binding(here);
    ASSERT_TRUE(before.pus.any());
    int last = max_pus - 1;
    while (!before.pus[last]) --last;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET(last, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    const Binding after = current_binding(here);
    EXPECT_EQ(after.pus, pus({last}));
    EXPECT_EQ(after.cores.count(), 1U);
    EXPECT_EQ(after.bound, here.allowed.count() > 1);
    EXPECT_EQ(cores_available(std::vector(4, after)), 1);
  }).join();
}

TEST(Binding, OnADescribedMachineIsTheWholeMachine) {
  const Binding binding = current_binding(machine());
  EXPECT_EQ(binding.pus, machine().allowed);
  EXPECT_FALSE(binding.bound);
}

TEST(CoresAvailable, CountsTheUnionOfBindingsAndEachCoreOnce) {
  const auto available = [](const std::vector<Binding>& bindings) { return cores_available(bindings); };
  EXPECT_EQ(available({}), 0);
  EXPECT_EQ(available({machine().place({})}), 8);
  EXPECT_EQ(available({machine().place(pus({0})), machine().place(pus({1}))}), 1);  // two PUs of one core
  EXPECT_EQ(available({machine().place(pus({0, 1})), machine().place(pus({1, 2, 4}))}), 3);
  EXPECT_EQ(available({machine().place(pus({15})), machine().place(pus({15}))}), 1);
}

TEST(CoresAvailable, IsBoundedByTheQuota) {
  const auto available = [](const std::vector<Binding>& bindings) { return cores_available(bindings); };
  EXPECT_EQ(available({with_quota({0, 2, 4, 6}, 2.5, 7)}), 2);
  EXPECT_EQ(available({with_quota({0, 2, 4, 6}, 0.25, 7)}), 1);
  EXPECT_EQ(available({with_quota({0, 2}, 16, 7)}), 2);
  // One quota for both ranks; then one for each, on cores of their own and on common ones.
  EXPECT_EQ(available({with_quota({0, 2}, 1, 7), with_quota({4, 6}, 1, 7)}), 1);
  EXPECT_EQ(available({with_quota({0, 2}, 1, 7), with_quota({4, 6}, 1, 8)}), 2);
  EXPECT_EQ(available({with_quota({0, 2}, 2, 7), with_quota({0, 2}, 2, 8)}), 2);
}

}  // namespace
}  // namespace chorus
