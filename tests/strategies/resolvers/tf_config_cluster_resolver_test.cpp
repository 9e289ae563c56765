// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/tf_config_cluster_resolver.hpp>
#include <chorus/strategies/worker_roles.hpp>

#include "strategies/resolvers/rejection.hpp"
#include "strategies/resolvers/variables_given.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace chorus {
namespace {

TFConfigClusterResolver resolver_of(const std::string& text, TaskInfo said = {}) {
  return TFConfigClusterResolver(std::move(said), test::variables({{"TF_CONFIG", text}}));
}

void expect_bad(const std::string& text, std::initializer_list<std::string_view> words) {
  SCOPED_TRACE(text);
  test::expect_rejection(ErrorCode::invalid_environment, {"TF_CONFIG"}, [&] { resolver_of(text); });
  test::expect_rejection(ErrorCode::invalid_environment, words, [&] { resolver_of(text); });
}

TEST(TFConfigClusterResolver, Case175_OfThreeWorkersAndTwoServers) {
  const std::string cluster = R"({"cluster": {"worker": ["a", "b", "c"], "ps": ["d", "e"]}, "task": )";
  const auto resolver = resolver_of(cluster + R"({"type": "worker", "index": 1}})");
  EXPECT_EQ(resolver.task_type(), "worker");
  EXPECT_EQ(resolver.task_id(), 1);
  EXPECT_EQ(resolver.cluster_spec().num_tasks("worker"), 3);
  EXPECT_EQ(resolver.cluster_spec().num_tasks("ps"), 2);
  EXPECT_FALSE(is_chief(resolver));
  EXPECT_TRUE(is_chief(resolver_of(cluster + R"({"type": "worker", "index": 0}})")));
}

TEST(TFConfigClusterResolver, Case176_WithoutTheVariableTheProgramIsAlone) {
  const TFConfigClusterResolver resolver({}, test::variables({}));
  EXPECT_TRUE(resolver.cluster_spec().empty());
  EXPECT_EQ(resolver.task_type(), std::nullopt);
  EXPECT_EQ(resolver.task_id(), std::nullopt);
  EXPECT_TRUE(is_chief(resolver));
  EXPECT_EQ(resolver.master(), "");
}

TEST(TFConfigClusterResolver, Case176_MalformedTextIsAnError) {
  expect_bad("", {"parse error at line 1, column 1"});
  expect_bad("{\"cluster\": {\n", {"parse error at line 2"});
  expect_bad("{} {}", {"parse error"});
  expect_bad("[]", {"must be an object"});
  expect_bad(R"({"cluster": ["a"]})", {"\"cluster\" must be an object"});
  expect_bad(R"({"cluster": {"": ["a"]}})", {"no name"});
  expect_bad(R"({"cluster": {"worker": "a"}})", {"\"cluster\".\"worker\" must be an array"});
  expect_bad(R"({"cluster": {"worker": ["a", 2]}})", {"\"cluster\".\"worker\"[1] must be an address"});
  expect_bad(R"({"cluster": {"worker": ["a", ""]}})", {"\"cluster\".\"worker\"[1] must be an address"});
  expect_bad(R"({"cluster": {"worker": {"x": "a"}}})", {"\"x\" in \"cluster\".\"worker\"", "index"});
  expect_bad(R"({"cluster": {"worker": {"-1": "a"}}})", {"\"-1\""});
  expect_bad(R"({"cluster": {"worker": {"1": "a", "01": "b"}}})", {"two tasks of index 1"});
  expect_bad(R"({"task": 3})", {"\"task\" must be an object"});
  expect_bad(R"({"task": {"type": 3}})", {"\"task\".\"type\" must be a text, not 3"});
  expect_bad(R"({"task": {"type": [[]]}})", {"\"task\".\"type\" must be a text, not an array"});
  for (const char* index : {"-1", "1.5", "\"a\"", "true", "99999999999", "[1]"}) {
    expect_bad(std::string(R"({"task": {"index": )") + index + "}}", {"\"task\".\"index\" must be a whole number"});
  }
  expect_bad(R"({"session_master": 1})", {"\"session_master\" must be a text"});
}

TEST(TFConfigClusterResolver, ReadsWhatLaunchersWrite) {
  const auto resolver = resolver_of(
      R"({"cluster": {"worker": {"1": "b:1", "0": "a:1"}, "ps": null}, "task": {"type": "worker", "index": "1"},
          "environment": "cloud", "rpc_layer": "grpc", "model_dir": "/tmp"})");
  EXPECT_EQ(resolver.cluster_spec(), ClusterSpec({{"worker", {"a:1", "b:1"}}, {"ps", JobTasks()}}));
  EXPECT_EQ(resolver.task(), (ClusterTask{"worker", 1}));
  EXPECT_EQ(resolver.environment(), "cloud");
  EXPECT_EQ(resolver.rpc_layer(), "grpc");
  EXPECT_EQ(resolver_of(R"({"cluster": null, "task": null})").task(), std::nullopt);
}

TEST(TFConfigClusterResolver, WhatTheProgramSaysWins) {
  const auto resolver =
      resolver_of(R"({"cluster": {"worker": ["a", "b"]}, "task": {"type": "worker", "index": 1}, "rpc_layer": "grpc"})",
                  {.task_id = 0, .rpc_layer = "", .environment = "lab"});
  EXPECT_EQ(resolver.task(), (ClusterTask{"worker", 0}));
  EXPECT_EQ(resolver.environment(), "lab");
  EXPECT_EQ(resolver.master(), "a");
}

TEST(TFConfigClusterResolver, Case179_Master) {
  EXPECT_EQ(resolver_of(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}})").master(), "");
  const std::string two = R"({"cluster": {"worker": ["a:port", "b:port"]})";
  const std::string task1 = R"(, "task": {"type": "worker", "index": 1})";
  EXPECT_EQ(resolver_of(two + task1 + R"(, "rpc_layer": "grpc"})").master(), "grpc://b:port");
  EXPECT_EQ(resolver_of(two + task1 + "}").master(), "b:port");
  EXPECT_EQ(resolver_of(two + task1 + R"(, "rpc_layer": ""})").master({.task_id = 0}), "a:port");
  EXPECT_EQ(resolver_of(two + task1 + R"(, "session_master": "head:1"})").master(), "head:1");
  test::expect_rejection(ErrorCode::invalid_argument, {"several tasks", "TF_CONFIG"},
                         [&] { static_cast<void>(resolver_of(two + "}").master()); });
}

TEST(TFConfigClusterResolver, ReloadsWhenToldTo) {
  std::string text = R"({"cluster": {"worker": ["a"]}})";
  TFConfigClusterResolver resolver({}, [&](const std::string& name) -> std::optional<std::string> {
    EXPECT_EQ(name, "TF_CONFIG");
    return text;
  });
  text = R"({"cluster": {"worker": ["a", "b"]}, "task": {"index": 1}})";
  EXPECT_EQ(resolver.cluster_spec().num_tasks(), 1);
  resolver.reload();
  EXPECT_EQ(resolver.cluster_spec().num_tasks(), 2);
  EXPECT_EQ(resolver.task_id(), 1);
  text = R"({"cluster": {}, "session_master": 1})";
  EXPECT_THROW(resolver.reload(), Error);
  EXPECT_EQ(resolver.cluster_spec().num_tasks(), 2);
}

}  // namespace
}  // namespace chorus
