// SPDX-License-Identifier: Apache-2.0
#include "texts_of_all.hpp"

#include <chorus/strategies/detail/input_workers.hpp>

#include <chorus/allgather.hpp>
#include <chorus/allreduce.hpp>

#include <cstddef>
#include <utility>

namespace chorus::detail {

InputWorkers::InputWorkers(const Communicator& workers)
    : InputWorkers(workers.size(), workers.rank(),
                   [workers](StrategyFunction /*function*/, const auto& body) { body(workers); }) {}

InputWorkers::InputWorkers(const std::optional<Communicator>& workers) {
  if (workers) *this = InputWorkers(*workers);
}

InputWorkers::InputWorkers(int size, int rank, Meet meet, std::chrono::nanoseconds timeout)
    : size_(size), rank_(rank), meet_(std::move(meet)), options_{.timeout = timeout} {}

std::vector<std::int64_t> InputWorkers::gather(const std::vector<std::int64_t>& own) const {
  if (alone()) return own;
  std::vector<std::int64_t> all(own.size() * static_cast<std::size_t>(size_));
  meet_(StrategyFunction::next_step, [&](const Communicator& comm) { allgather(comm, own, all, options_); });
  return all;
}

void InputWorkers::add(std::span<std::int64_t> numbers) const {
  if (alone()) return;
  meet_(StrategyFunction::next_step,
        [&](const Communicator& comm) { allreduce(comm, numbers, ReduceOp::sum, options_); });
}

std::string InputWorkers::failures(StrategyFunction function, const std::string& own, const std::string& what) const {
  if (alone()) return {};
  std::vector<std::string> all;
  meet_(function, [&](const Communicator& comm) { all = texts_of_all(comm, own, options_); });
  std::string failures;
  for (std::size_t worker = 0; worker < all.size(); ++worker) {
    if (all[worker].empty()) continue;
    failures.append(failures.empty() ? "" : "; ").append("worker ").append(std::to_string(worker)).append(" ");
    failures.append(what).append(": ").append(all[worker]);
  }
  return failures;
}

}  // namespace chorus::detail
