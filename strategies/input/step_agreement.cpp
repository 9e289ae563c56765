// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>
#include <chorus/strategies/context.hpp>
#include <chorus/strategies/detail/step_agreement.hpp>
#include <chorus/strategies/detail/text_of.hpp>
#include <chorus/strategies/replica_context.hpp>
#include <chorus/strategies/strategy.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace chorus::detail {
namespace {

constexpr std::int64_t unknown = -1;
constexpr std::int64_t infinite = -2;

std::int64_t encoded(const Cardinality& steps) {
  if (steps.is_infinite()) return infinite;
  return steps.count() ? static_cast<std::int64_t>(*steps.count()) : unknown;
}

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "DistributedDataset: " + why);
}

/// "worker 0: 3, worker 1: endless".
std::string text_of_steps(const std::vector<std::int64_t>& steps) {
  std::string text;
  for (std::size_t worker = 0; worker < steps.size(); ++worker) {
    text += (worker == 0 ? "" : ", ") + std::string("worker ") + std::to_string(worker) + ": " +
            (steps[worker] == infinite ? "endless" : std::to_string(steps[worker]));
  }
  return text;
}

}  // namespace

void agree_on_start(const InputWorkers& workers, const std::exception_ptr& failure) {
  const std::string others =
      workers.failures(StrategyFunction::distribute_dataset, text_of(failure), "could not make its dataset");
  if (failure) std::rethrow_exception(failure);
  if (!others.empty()) reject(others);
}

void check_takes_steps(const char* function) {
  const ReplicaContext* const replica = current_context().replica;
  if (replica == nullptr) return;
  throw Error(ErrorCode::wrong_context,
              std::string(function) + ": called in replica " + std::to_string(replica->replica_id_in_sync_group()) +
                  " of the " + replica->strategy().name() +
                  " strategy, but each call takes the batches of all replicas: take the step outside of run and give "
                  "its batches() to run");
}

StepAgreement::StepAgreement(const ReplicaLayout& layout, InputWorkers workers, UnevenPolicy policy,
                             const LocalPlan& plan)
    : layout_(layout), workers_(std::move(workers)), policy_(policy), plan_(plan) {}

void StepAgreement::compare_settings() const {
  const auto& own = plan_.settings.numbers;
  const std::vector<std::int64_t> all = workers_.gather({own.begin(), own.end()});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t setting = i % own.size();
    if (all[i] == all[setting]) continue;
    const std::string values = setting == PlanSettings::rows
                                   ? ", " + std::to_string(all[setting]) + " and " + std::to_string(all[i])
                                   : std::string();
    throw Error(ErrorCode::mismatch, std::string("DistributedDataset: ") + PlanSettings::names[setting] +
                                         " not the same on worker 0 and on worker " + std::to_string(i / own.size()) +
                                         values + ": give every worker the same options");
  }
}

void StepAgreement::share_row_shape(const LocalCounts& first, const std::vector<std::int64_t>& lengths) {
  const auto known = std::ranges::find_if(lengths, [](std::int64_t length) { return length != unknown; });
  if (known == lengths.end() || std::ranges::find(lengths, unknown) == lengths.end()) return;
  const auto longest = static_cast<std::size_t>(std::ranges::max(lengths));
  if (longest == 0) return;  // rows that are single numbers
  std::vector<std::int64_t> own = first.row_shape.value_or(std::vector<std::int64_t>());
  own.resize(longest);
  const std::vector<std::int64_t> all = workers_.gather(own);
  const auto from = all.begin() + (known - lengths.begin()) * static_cast<std::ptrdiff_t>(longest);
  row_shape_.assign(from, from + *known);
}

void StepAgreement::compare_plans(const LocalCounts& first) {
  planned_ = true;
  counts_alone_ = workers_.alone();
  if (counts_alone_) return;
  compare_settings();
  constexpr std::size_t numbers = 5;
  const std::int64_t rows = plan_.rows ? static_cast<std::int64_t>(*plan_.rows) : unknown;
  const std::int64_t lengths = first.row_shape ? std::ssize(*first.row_shape) : unknown;
  const bool must_be_told = plan_.may_fail || !first.failure.empty();
  const std::vector<std::int64_t> all =
      workers_.gather({encoded(plan_.steps), rows, plan_.sees_all ? 1 : 0, must_be_told ? 1 : 0, lengths});
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> of_rows;
  bool known_rows = true;
  bool all_see_all = true;
  bool may_fail = false;  // in any step, or has failed
  std::int64_t sum = 0;
  for (std::size_t at = 0; at < all.size(); at += numbers) {
    steps.push_back(all[at]);
    known_rows = known_rows && all[at + 1] != unknown;
    all_see_all = all_see_all && all[at + 2] == 1;
    may_fail = may_fail || all[at + 3] == 1;
    sum += all[at + 1];
    of_rows.push_back(all[at + 4]);
  }
  share_row_shape(first, of_rows);
  const bool known = std::ranges::find(steps, unknown) == steps.end();
  const bool same = known && std::ranges::adjacent_find(steps, std::not_equal_to<>()) == steps.end();
  if (known && !same && all_see_all) {
    reject("AutoShardPolicy::data gives each worker its slices of the same data, but the numbers of steps differ (" +
           text_of_steps(steps) + "): give every worker all of them, or choose hint");
  }
  if (known && !same && policy_ == UnevenPolicy::error) {
    reject("the workers have different numbers of steps (" + text_of_steps(steps) +
           "): divide the data evenly, or choose UnevenPolicy::pad, drop or stop_all");
  }
  counts_alone_ = same && (known_rows || all_see_all) && !may_fail;
  if (counts_alone_ && known_rows) fixed_rows_ = static_cast<std::size_t>(sum);
}

StepCounts StepAgreement::all_counts(const LocalCounts& counts) {
  if (counts_alone_) {
    if (counts.own.batches == 0 || workers_.alone()) return counts.own;
    const auto replicas = static_cast<std::size_t>(layout_.replicas());
    return fixed_rows_ ? StepCounts{*fixed_rows_, replicas, replicas} : counts.all.value_or(counts.own);
  }
  std::array<std::int64_t, 4> sums = {static_cast<std::int64_t>(counts.own.rows),
                                      static_cast<std::int64_t>(counts.own.batches),
                                      static_cast<std::int64_t>(counts.own.with_rows), counts.failure.empty() ? 0 : 1};
  workers_.add(sums);
  if (sums[3] > 0) {
    const std::string others =
        workers_.failures(StrategyFunction::next_step, counts.failure, "could not read its data");
    if (counts.failure.empty()) reject("in step " + std::to_string(step_) + " " + others);
    return {};  // this worker throws its own
  }
  return {static_cast<std::size_t>(sums[0]), static_cast<std::size_t>(sums[1]), static_cast<std::size_t>(sums[2])};
}

void StepAgreement::report_uneven() const {
  const std::vector<std::int64_t> all =
      workers_.gather({static_cast<std::int64_t>(own_.with_rows), static_cast<std::int64_t>(own_rows_)});
  std::string who;
  std::string rows;
  for (std::size_t worker = 0; worker < all.size() / 2; ++worker) {
    const std::string name = "worker " + std::to_string(worker);
    if (all[worker * 2] < layout_.local_replicas) {
      who += (who.empty() ? "" : ", ") + name + " has rows for " + std::to_string(all[worker * 2]) + " of its " +
             std::to_string(layout_.local_replicas) + " replicas";
    }
    rows += (rows.empty() ? "" : ", ") + name + ": " + std::to_string(all[worker * 2 + 1]);
  }
  throw Error(ErrorCode::invalid_argument, "DistributedDataset: the data end unevenly: in step " +
                                               std::to_string(step_) + " " + who + "; rows so far: " + rows +
                                               ": divide the data evenly, or choose UnevenPolicy::pad, drop or "
                                               "stop_all");
}

std::optional<std::size_t> StepAgreement::agree(const LocalCounts& counts) {
  if (!planned_) compare_plans(counts);
  own_ = counts.own;
  own_rows_ += counts.own.rows;
  const StepCounts all = all_counts(counts);
  if (all.batches == 0) return std::nullopt;
  if (all.rows == 0) return 0;
  const bool lacks = all.with_rows < static_cast<std::size_t>(layout_.replicas());
  if (policy_ == UnevenPolicy::error && lacks) report_uneven();
  if (policy_ == UnevenPolicy::stop_all && lacks) return std::nullopt;
  if (!plan_.full_rows) plan_.full_rows = all.rows;
  if (policy_ == UnevenPolicy::drop && all.rows < *plan_.full_rows) return std::nullopt;
  ++step_;
  return all.rows;
}

}  // namespace chorus::detail
