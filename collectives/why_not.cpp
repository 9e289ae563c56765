// SPDX-License-Identifier: Apache-2.0
#include "why_not.hpp"

#include "base/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace chorus {
namespace {

/// Elements: what does not carry as many does not need more.
constexpr std::size_t many = std::numeric_limits<std::uint32_t>::max();

/// Between `from`, for which `holds` is true, and `to`, for which it is not: the last one in that direction for which
/// it still is.
template <class Holds>
std::size_t last_of(std::size_t from, std::size_t to, const Holds& holds) {
  while ((from < to ? to - from : from - to) > 1) {
    const std::size_t middle = from + (to > from ? (to - from) / 2 : 0) - (to < from ? (from - to) / 2 : 0);
    (holds(middle) ? from : to) = middle;
  }
  return from;
}

/// How many elements it carries, where these are too many or too few.
std::string limit_of_count(const Algorithm& algorithm, const Problem& problem) {
  const auto carries = [&](std::size_t count) {
    Problem other = problem;
    other.call.count = count;
    return suits(algorithm, other);
  };
  const std::size_t count = problem.call.count;
  if (count > 1 && carries(1)) {
    return fmt::format("it carries {} such elements at most", last_of(1, count, carries));
  }
  if (carries(many)) return fmt::format("it takes {} such elements or more", last_of(many, count, carries));
  return {};
}

}  // namespace

std::string why_not(const Algorithm& algorithm, const Problem& problem) {
  if (algorithm.memory != problem.call.memory) {
    return algorithm.memory == Memory::device ? "it is for memory of GPUs" : "it is for memory of the host";
  }
  if (std::string limit = limit_of_count(algorithm, problem); !limit.empty()) return limit;
  const auto applies_where = [&](const auto& change) {
    Problem other = problem;
    change(other);
    return suits(algorithm, other);
  };
  if (applies_where([](Problem& other) { other.call.op = ReduceOp::sum; })) {
    return fmt::format("it does not reduce by {}", name(problem.call.op));
  }
  if (applies_where([](Problem& other) { other.call.repeatability = Repeatability::none; })) {
    return "it does not give the same bits again";
  }
  if (applies_where([](Problem& other) { other.call.type = DataType::float64; })) {
    return fmt::format("it does not carry {}", name(problem.call.type));
  }
  if (!problem.native && applies_where([](Problem& other) { other.native = true; })) {
    const Call& call = problem.call;
    if (call.repeatability != Repeatability::none) return "nothing is known of the order in which MPI adds";
    if (call.op == commutative_function || call.op == ordered_function) return "MPI is not given functions";
    return "MPI has no such collective for this call or communicator";
  }
  if (!problem.shared && applies_where([](Problem& other) { other.shared = true; })) {
    return "it is for ranks that all share the memory of one node";
  }
  if (!problem.single_copy && applies_where([](Problem& other) { other.single_copy = true; })) {
    return "it is for ranks that can read and write each other's memory";
  }
  const auto on_nodes = [&](Problem& other) {
    other.nodes = std::max(other.nodes, 2);
    other.shared = false;
    other.largest_node = other.smallest_node = 2;
    other.ranks = 2 * other.nodes;
  };
  const bool of_one = problem.nodes == 1 || problem.nodes == problem.ranks;
  if (of_one && applies_where(on_nodes)) return "it is for several nodes of several ranks";
  const auto of_four = [](Problem& other) { other.ranks = other.largest_node = other.smallest_node = 4; };
  if (problem.nodes == 1 && applies_where(of_four)) return fmt::format("it is not for {} ranks", problem.ranks);
  return {};
}

}  // namespace chorus
