// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/slurm_cluster_resolver.hpp>

#include "strategies/resolvers/rejection.hpp"
#include "strategies/resolvers/variables_given.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace chorus {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Values = std::map<std::string, std::string>;

/// What srun sets, and `more`.
Values step(const std::string& own, const std::string& tasks, const std::string& nodes, const std::string& per_node,
            const Values& more = {}) {
  Values values = {{"SLURM_PROCID", own},
                   {"SLURM_STEP_NUM_TASKS", tasks},
                   {"SLURM_STEP_NODELIST", nodes},
                   {"SLURM_STEP_TASKS_PER_NODE", per_node}};
  for (const auto& [name, value] : more) values[name] = value;
  return values;
}

SlurmClusterResolver resolver_of(const Values& values, const SlurmResolverOptions& options = {}) {
  return SlurmClusterResolver(options, test::variables(values));
}

void expect_bad(ErrorCode code, const Values& values, std::initializer_list<std::string_view> words,
                const SlurmResolverOptions& options = {}) {
  test::expect_rejection(code, words, [&] { static_cast<void>(resolver_of(values, options)); });
}

TEST(SlurmClusterResolver, TasksOfAHostHaveTheNextPorts) {
  const auto resolver = resolver_of(step("3", "5", "n[08-10]", "2(x2),1"));
  EXPECT_EQ(resolver.cluster_spec(),
            ClusterSpec({{"worker", {"n08:8888", "n08:8889", "n09:8888", "n09:8889", "n10:8888"}}}));
  EXPECT_EQ(resolver.task(), (ClusterTask{"worker", 3}));
  EXPECT_EQ(resolver.master(), "grpc://n09:8889");
  EXPECT_EQ(resolver.master({.task_type = "worker", .task_id = 4, .rpc_layer = ""}), "n10:8888");
  EXPECT_EQ(resolver.num_accelerators(), 0);
  EXPECT_THAT(resolver.own_gpus(), IsEmpty());
}

TEST(SlurmClusterResolver, JobsAreDealtInTheOrderOfTheirNames) {
  const SlurmResolverOptions options{.jobs = {{"worker", 2}, {"ps", 1}}, .port_base = 1337};
  const auto resolver = resolver_of(step("1", "3", "a,b,c", "1(x3)"), options);
  EXPECT_EQ(resolver.cluster_spec(), ClusterSpec({{"ps", {"a:1337"}}, {"worker", {"b:1337", "c:1337"}}}));
  EXPECT_EQ(resolver.task(), (ClusterTask{"worker", 0}));
}

TEST(SlurmClusterResolver, Case172_HostsKeepTheOrderOfTheNodeList) {
  EXPECT_EQ(resolver_of(step("0", "2", "n[9-10]", "1(x2)")).master({.rpc_layer = ""}), "n9:8888");
}

TEST(SlurmClusterResolver, Case173_JobsMustHaveAsManyTasksAsThereAre) {
  expect_bad(ErrorCode::invalid_argument, step("0", "4", "n[1-2]", "2(x2)"), {"3 tasks are requested, 4 assigned"},
             {.jobs = {{"worker", 3}}});
  expect_bad(ErrorCode::invalid_argument, step("0", "1", "n1", "1"), {"\"worker\" has -1 tasks"},
             {.jobs = {{"ps", 2}, {"worker", -1}}});
}

TEST(SlurmClusterResolver, Case173_MoreGpusThanThereAre) {
  expect_bad(ErrorCode::invalid_argument, step("0", "2", "n1", "2"),
             {"3 GPUs for each of 2 tasks", "a node has 4", "--gpus-per-node"},
             {.gpus_per_node = 4, .gpus_per_task = 3});
}

TEST(SlurmClusterResolver, Case173_NamesTheVariableThatIsNotSet) {
  for (const char* name :
       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE"}) {
    Values values = step("0", "1", "n1", "1");
    values.erase(name);
    expect_bad(ErrorCode::invalid_environment, values, {name, "is not set", "srun", "MpiClusterResolver"});
  }
}

TEST(SlurmClusterResolver, Case174_WithoutGpus) {
  const SlurmResolverOptions none{.gpus_per_task = 0};
  EXPECT_EQ(resolver_of(step("0", "1", "n1", "1", {{"CUDA_VISIBLE_DEVICES", "0,1"}}), none).num_accelerators(), 0);
  for (const char* devices : {"", "-1", "NoDevFiles"}) {
    EXPECT_EQ(resolver_of(step("0", "1", "n1", "1", {{"CUDA_VISIBLE_DEVICES", devices}, {"SLURM_GPUS_ON_NODE", "4"}}))
                  .num_accelerators(),
              0)
        << devices;
  }
}

TEST(SlurmClusterResolver, Case174_GpusAreDividedAmongTheTasksOfANode) {
  const Values devices = {{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}};
  EXPECT_EQ(resolver_of(step("0", "1", "n1", "1", devices)).num_accelerators(), 4);
  const auto second = resolver_of(step("1", "3", "n[1-2]", "2,1", devices));
  EXPECT_EQ(second.num_accelerators(), 2);
  EXPECT_THAT(second.own_gpus(), ElementsAre(2, 3));
  EXPECT_THAT(resolver_of(step("2", "3", "n[1-2]", "2,1", devices)).own_gpus(), ElementsAre(0, 1));
  EXPECT_EQ(resolver_of(step("0", "3", "n1", "3", {{"SLURM_GPUS_ON_NODE", "8"}})).num_accelerators(), 2);
  EXPECT_EQ(
      resolver_of(step("0", "1", "n1", "1", {{"CUDA_VISIBLE_DEVICES", "GPU-8932f937,MIG-1,-1,3"}})).num_accelerators(),
      2);
  expect_bad(ErrorCode::invalid_argument, step("0", "1", "n1", "1"), {"must be 0 or more"}, {.gpus_per_node = -1});
}

TEST(SlurmClusterResolver, GpusThatSlurmHasBoundToTheTaskAreItsOwn) {
  const Values bound = step("3", "4", "n1", "4", {{"CUDA_VISIBLE_DEVICES", "3"}, {"SLURM_GPUS_PER_TASK", "a100:1"}});
  EXPECT_EQ(resolver_of(bound).num_accelerators(), 1);
  EXPECT_THAT(resolver_of(bound).own_gpus(), ElementsAre(0));
  EXPECT_EQ(resolver_of(bound, {.gpus_per_task = 0}).num_accelerators(), 0);
  EXPECT_THAT(resolver_of(bound, {.gpus_per_node = 4}).own_gpus(), ElementsAre(3));
}

TEST(SlurmClusterResolver, MalformedVariablesAreErrors) {
  const auto code = ErrorCode::invalid_environment;
  expect_bad(code, step("x", "1", "n1", "1"), {"SLURM_PROCID=x", "whole number"});
  expect_bad(code, step("2", "2", "n1", "2"), {"SLURM_PROCID=2", "2 tasks"});
  expect_bad(code, step("0", "2", "n[2-1]", "2"), {"SLURM_STEP_NODELIST=n[2-1]", "character 3", "backwards"});
  expect_bad(code, step("0", "2", "n1", "2("), {"SLURM_STEP_TASKS_PER_NODE=2(", "character 2"});
  expect_bad(code, step("0", "2", "n[1-3]", "1(x2)"), {"names 3 nodes", "the tasks of 2"});
  expect_bad(code, step("0", "2", "n[1-2]", "2(x2)"), {"4 tasks in all", "SLURM_STEP_NUM_TASKS=2"});
  expect_bad(code, step("0", "1", "n1", "1", {{"SLURM_GPUS_ON_NODE", "many"}}), {"SLURM_GPUS_ON_NODE=many"});
}

TEST(SlurmClusterResolver, TasksPerNodeCanBeGiven) {
  Values values = step("2", "4", "n[1-2]", "1");
  EXPECT_EQ(resolver_of(values, {.tasks_per_node = 2}).master(), "grpc://n2:8888");
  EXPECT_EQ(resolver_of(values, {.tasks_on_host = {{"n1", 3}, {"n2", 1}}}).master(), "grpc://n1:8890");
  expect_bad(ErrorCode::invalid_argument, values, {"lacks host n2: give its number of tasks"},
             {.tasks_on_host = {{"n1", 4}}});
  expect_bad(ErrorCode::invalid_argument, values, {"both given"}, {.tasks_per_node = 2, .tasks_on_host = {{"n1", 4}}});
  expect_bad(ErrorCode::invalid_argument, values, {"-1 tasks on a host"}, {.tasks_on_host = {{"n1", 5}, {"n2", -1}}});
  expect_bad(ErrorCode::invalid_environment, values, {"6 tasks in all"}, {.tasks_per_node = 3});
}

TEST(SlurmClusterResolver, PortsMustBePorts) {
  const Values values = step("0", "3", "n1", "3");
  EXPECT_EQ(resolver_of(values, {.port_base = 65533}).master({.task_id = 2, .rpc_layer = ""}), "n1:65535");
  for (const int port : {0, -1, 65534, 2000000000}) {
    expect_bad(ErrorCode::invalid_argument, values, {"port_base is " + std::to_string(port)}, {.port_base = port});
  }
}

TEST(SlurmClusterResolver, TasksThatAreNotPlacedHostByHostAreAnError) {
  const Values cyclic = {{"SLURM_NODEID", "1"}, {"SLURM_LOCALID", "0"}};
  expect_bad(ErrorCode::invalid_environment, step("1", "4", "n[1-2]", "2(x2)", cyclic),
             {"task 1 is task 1 of node 0", "made it task 0 of node 1", "--distribution=block", "MpiClusterResolver"});
  EXPECT_EQ(resolver_of(step("2", "4", "n[1-2]", "2(x2)", cyclic)).task_id(), 2);
}

TEST(SlurmClusterResolver, WhatTheProgramSaysWins) {
  const auto resolver =
      resolver_of(step("1", "2", "n1", "2"), {.task = {.task_id = 0, .rpc_layer = "", .environment = "lab"}});
  EXPECT_EQ(resolver.master(), "n1:8888");
  EXPECT_EQ(resolver.environment(), "lab");
}

}  // namespace
}  // namespace chorus
