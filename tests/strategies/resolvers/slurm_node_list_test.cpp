// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/slurm_node_list.hpp>

#include "strategies/resolvers/rejection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace chorus {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

void expect_bad_nodes(const std::string& text, std::initializer_list<std::string_view> words) {
  SCOPED_TRACE(text);
  test::expect_rejection(ErrorCode::invalid_argument, words, [&] { static_cast<void>(expand_nodelist(text)); });
}

void expect_bad_tasks(const std::string& text, std::initializer_list<std::string_view> words) {
  SCOPED_TRACE(text);
  test::expect_rejection(ErrorCode::invalid_argument, words, [&] { static_cast<void>(expand_tasks_per_node(text)); });
}

TEST(SlurmNodeList, Case169_RangesThatRunBackwardsAreErrors) {
  expect_bad_nodes("n[3-1]", {"character 3 of \"n[3-1]\"", "3-1 runs backwards", "1-3"});
  expect_bad_nodes("a,n[1,010-9]", {"character 7", "runs backwards"});
}

TEST(SlurmNodeList, Case169_SuffixesAndSeveralBrackets) {
  EXPECT_THAT(expand_nodelist("r[1-2]-ib"), ElementsAre("r1-ib", "r2-ib"));
  EXPECT_THAT(expand_nodelist("a[1]b[2]"), ElementsAre("a1b2"));
  EXPECT_THAT(
      expand_nodelist("rack[1-2]n[08-10]-ib,login"),
      ElementsAre("rack1n08-ib", "rack1n09-ib", "rack1n10-ib", "rack2n08-ib", "rack2n09-ib", "rack2n10-ib", "login"));
  EXPECT_THAT(expand_nodelist("[1-2][3-4]"), ElementsAre("13", "14", "23", "24"));
}

TEST(SlurmNodeList, Case169_MalformedListsAreErrorsWithThePlace) {
  expect_bad_nodes("n[1", {"character 2 of \"n[1\"", "not closed"});
  expect_bad_nodes("n[", {"at the end", "expected a number"});
  expect_bad_nodes(",a", {"character 1", "expected the name of a host"});
  expect_bad_nodes("a,,b", {"character 3", "expected the name of a host"});
  expect_bad_nodes("", {"at the end of \"\""});
  expect_bad_nodes("a]", {"character 2"});
  expect_bad_nodes("a b", {"character 2"});
  expect_bad_nodes("a\xC3\xA4", {"character 2"});
  expect_bad_nodes("n[]", {"character 3", "expected a number"});
  expect_bad_nodes("n[1,]", {"character 5", "expected a number"});
  expect_bad_nodes("n[1-]", {"character 5", "expected a number"});
  expect_bad_nodes("n[1-2-3]", {"character 6"});
  expect_bad_nodes("n[1x3]", {"character 4"});
  expect_bad_nodes("n[8-010]", {"character 3", "more zeros"});
  EXPECT_THAT(expand_nodelist("a,"), ElementsAre("a"));
}

// What job-launching tools have stumbled over, in the form in which Slurm writes it.
TEST(SlurmNodeList, ListsOfRealClusters) {
  EXPECT_THAT(expand_nodelist("c5n-st-c5n18xlarge-1"), ElementsAre("c5n-st-c5n18xlarge-1"));
  EXPECT_THAT(expand_nodelist("b04-[09-10]"), ElementsAre("b04-09", "b04-10"));
  EXPECT_THAT(expand_nodelist("nodeA,nodeB[001,003],nodeC"), ElementsAre("nodeA", "nodeB001", "nodeB003", "nodeC"));
  EXPECT_THAT(expand_nodelist("host[001,003-004,006]"), ElementsAre("host001", "host003", "host004", "host006"));
  EXPECT_THAT(expand_nodelist("ml-16-node-[001-002,004],ml-17-node-[001-003]"),
              ElementsAre("ml-16-node-001", "ml-16-node-002", "ml-16-node-004", "ml-17-node-001", "ml-17-node-002",
                          "ml-17-node-003"));
  EXPECT_THAT(expand_nodelist("foo003,foo0[10-11],foo[103-104],foo[10,12-13],foo-m11-16"),
              ElementsAre("foo003", "foo010", "foo011", "foo103", "foo104", "foo10", "foo12", "foo13", "foo-m11-16"));
  EXPECT_THAT(expand_nodelist("n[8-11]"), ElementsAre("n8", "n9", "n10", "n11"));
  EXPECT_THAT(expand_nodelist("n[099-101]"), ElementsAre("n099", "n100", "n101"));
  EXPECT_THAT(expand_nodelist("n[001-3]"), ElementsAre("n001", "n002", "n003"));
  EXPECT_THAT(expand_nodelist("node1.cluster.org,node_2"), ElementsAre("node1.cluster.org", "node_2"));
}

TEST(SlurmNodeList, KeepsTheOrderOfTheList) {
  EXPECT_THAT(expand_nodelist("n[9-10,2],a"), ElementsAre("n9", "n10", "n2", "a"));
}

TEST(SlurmNodeList, HasLimits) {
  EXPECT_THAT(expand_nodelist("n[0-65535]"), SizeIs(65536));
  expect_bad_nodes("n[0-65536]", {"character 3", "65536"});
  expect_bad_nodes("n[0-65535],b", {"65536"});
  expect_bad_nodes("n[0-999][0-999]", {"65536"});
  expect_bad_nodes("n[1-999999999999999999]", {"65536"});
  expect_bad_nodes("n[0000000000000000001]", {"18 digits"});
  expect_bad_nodes(std::string(256, 'n'), {"255"});
}

TEST(SlurmNodeList, Case170_TasksPerNode) {
  EXPECT_THAT(expand_tasks_per_node("3(x2),2,11(x4)"), ElementsAre(3, 3, 2, 11, 11, 11, 11));
  EXPECT_THAT(expand_tasks_per_node("1(x2)"), ElementsAre(1, 1));
  EXPECT_THAT(expand_tasks_per_node("128"), ElementsAre(128));
  expect_bad_tasks("3(x)", {"character 4 of \"3(x)\"", "expected a number"});
  expect_bad_tasks("a", {"character 1", "expected a number"});
  expect_bad_tasks("", {"expected a number"});
  expect_bad_tasks("3(x2", {"at the end", "\")\""});
  expect_bad_tasks("3,", {"at the end"});
  expect_bad_tasks("3x2", {"character 2"});
  expect_bad_tasks("-3", {"character 1"});
  expect_bad_tasks("2(x0)", {"character 1", "0 nodes"});
  expect_bad_tasks("2(x65537)", {"65536"});
  expect_bad_tasks("9999999", {"tasks on a node"});
}

}  // namespace
}  // namespace chorus
