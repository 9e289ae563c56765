// SPDX-License-Identifier: Apache-2.0
// All that is equal is found to be by one small message of a fixed length, whatever the number of variables: a hash of
// the list of the variables and one of all values. Where that says no the checksums of all components follow.
#include <chorus/strategies/check_in_sync.hpp>

#include "crc32.hpp"
#include "other_strategy.hpp"

#include <chorus/allgather.hpp>
#include <chorus/detail/fnv1a.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/extended.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace chorus::detail {
namespace {

constexpr std::size_t most_named = 8;  // in one message

using Variables = std::vector<MirroredComponents>;
using Checksums = std::vector<std::uint32_t>;  // of each component of the first variable, then of the second, ...

struct Summary {
  std::uint64_t variables = 0;   ///< the hash of what they are called and are
  std::uint64_t values = 0;      ///< the hash of the components of one replica
  std::uint64_t equal_here = 1;  ///< whether all replicas of this worker have these
};

/// Of the bytes that travel, so that numbers that are written alike and are not the same bits differ.
std::uint32_t checksum_of(const TensorRef& tensor) {
  Crc32 checksum;
  checksum.add(std::as_bytes(std::span(tensor.shape)));
  checksum.add({tensor.data, tensor.bytes()});
  return checksum.value();
}

Checksums checksums_of(const Variables& variables) {
  Checksums checksums;
  for (const MirroredComponents& variable : variables) {
    for (const TensorRef& component : variable.components) checksums.push_back(checksum_of(component));
  }
  return checksums;
}

Summary summary_of(const Variables& variables, const Checksums& checksums) {
  Summary summary;
  Fnv1a names;
  Fnv1a values;
  auto checksum = checksums.begin();
  for (const MirroredComponents& variable : variables) {
    names.add(variable.name);
    names.add(static_cast<std::uint64_t>(variable.components.front().type));
    names.add(variable.components.size());
    values.add(*checksum);
    const auto end = checksum + static_cast<std::ptrdiff_t>(variable.components.size());
    if (std::any_of(checksum, end, [&](std::uint32_t each) { return each != *checksum; })) summary.equal_here = 0;
    checksum = end;
  }
  summary.variables = names.value();
  summary.values = values.value();
  return summary;
}

/// What each worker has to say, in their order.
template <class T>
std::vector<T> of_all(const Communicator* workers, std::span<const T> mine, const CollectiveOptions& options) {
  if (workers == nullptr) return {mine.begin(), mine.end()};
  std::vector<T> all(mine.size() * static_cast<std::size_t>(workers->size()));
  allgather(*workers, mine, std::span(all), options);
  return all;
}

/// "1, 2 and 3", at most most_named of them.
std::string listed(const std::vector<std::string>& texts) {
  std::string all;
  for (std::size_t i = 0; i < std::min(texts.size(), most_named); ++i) {
    const bool last = i + 1 == texts.size();
    if (i > 0) all.append(last ? " and " : ", ");
    all.append(texts[i]);
  }
  if (texts.size() > most_named) all.append(fmt::format(" and {} more", texts.size() - most_named));
  return all;
}

/// The checksums that all components of one variable have, those of worker 0 first.
struct Copies {
  const ReplicaLayout& layout;
  std::size_t on_each_worker;
  Checksums checksums;

  /// What most of them have; of several with as many what the first one of them has.
  [[nodiscard]] std::uint32_t of_most() const {
    std::map<std::uint32_t, std::size_t> counts;
    for (const std::uint32_t each : checksums) ++counts[each];
    return *std::ranges::max_element(checksums, {}, [&](std::uint32_t each) { return counts[each]; });
  }
  [[nodiscard]] std::string name(std::size_t copy) const {
    const std::size_t worker = copy / on_each_worker;
    if (on_each_worker < static_cast<std::size_t>(layout.local_replicas)) return fmt::format("worker {}", worker);
    return layout.workers == 1 ? fmt::format("replica {}", copy) : fmt::format("replica {} of worker {}", copy, worker);
  }
  /// Which differ from what most have; none where all are equal.
  [[nodiscard]] std::vector<std::string> different() const {
    std::vector<std::string> names;
    const std::uint32_t most = of_most();
    for (std::size_t copy = 0; copy < checksums.size(); ++copy) {
      if (checksums[copy] != most) names.push_back(name(copy));
    }
    return names;
  }
};

/// `all`: the checksums that each worker has.
[[noreturn]] void reject(const Variables& variables, const ReplicaLayout& layout, const Checksums& all) {
  std::vector<std::string> texts;
  std::size_t first = 0;
  const std::size_t of_worker = all.size() / static_cast<std::size_t>(layout.workers);
  for (const MirroredComponents& variable : variables) {
    Copies copies{layout, variable.components.size(), {}};
    for (std::size_t begin = first; begin < all.size(); begin += of_worker) {
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(begin);
      copies.checksums.insert(copies.checksums.end(), from, from + static_cast<std::ptrdiff_t>(copies.on_each_worker));
    }
    first += copies.on_each_worker;
    const std::vector<std::string> different = copies.different();
    if (!different.empty()) texts.push_back(fmt::format("\"{}\" on {}", variable.name, listed(different)));
  }
  throw Error(
      ErrorCode::mismatch,
      fmt::format("check_in_sync: variables are not the same on all {} replicas; different from most: {}. Write "
                  "them alike on all replicas, or restore a checkpoint",
                  layout.replicas(), listed(texts)));
}

void check_summaries(const std::vector<Summary>& all) {
  const auto other = std::ranges::find_if(all, [&](const Summary& each) { return each.variables != all[0].variables; });
  if (other == all.end()) return;
  throw Error(ErrorCode::mismatch,
              fmt::format("check_in_sync: worker 0 and worker {} check different variables: give the same ones in the "
                          "same order on every worker",
                          other - all.begin()));
}

void check_place() {
  const StrategyContext& context = current_context();
  if (context.replica != nullptr) {
    throw Error(ErrorCode::wrong_context,
                "check_in_sync: called in a replica, but needs the cross-replica context: call it outside of run, or "
                "in the function of a merge_call");
  }
}

/// Throws unless all belong to one strategy.
void check_owners(const Variables& variables) {
  if (variables.empty()) return;
  const StrategyContext& context = current_context();
  const Strategy* const strategy = context.strategy != nullptr ? context.strategy : variables.front().strategy;
  const auto other = std::ranges::find_if(variables, [&](const auto& each) { return each.strategy != strategy; });
  if (other == variables.end()) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("check_in_sync: the variable \"{}\" belongs to {} and is checked with those of {}: check each "
                  "strategy's in its scope",
                  other->name, the(*other->strategy), beside(*other->strategy, *strategy)));
}

}  // namespace

void check_in_sync(const std::vector<MirroredComponents>& variables) {
  check_place();
  StrategyExtended& extended = variables.empty() ? get_strategy().extended() : variables[0].strategy->extended();
  ReplicaGroup& group = extended.group();
  group.ahead([&] { check_owners(variables); });
  const CollectiveOptions options{.timeout = extended.communication_options().timeout};
  const Checksums mine = checksums_of(variables);
  const Summary summary = summary_of(variables, mine);
  group.together([&] {
    group.announce({.function = StrategyFunction::check_in_sync});
    const auto summaries = of_all(group.workers(), std::span(&summary, 1), options);
    group.alike([&] { check_summaries(summaries); });
    const bool equal = std::ranges::all_of(summaries, [&](const Summary& each) {
      return each.equal_here != 0 && each.values == summaries.front().values;
    });
    if (equal) return;
    const Checksums all = of_all(group.workers(), std::span<const std::uint32_t>(mine), options);
    group.alike([&] { reject(variables, group.layout(), all); });
  });
}

}  // namespace chorus::detail
