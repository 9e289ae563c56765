// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/metrics.hpp>

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace chorus {

Tally::Tally(const std::string& name)
    : sum_(0.0, {.name = name,
                 .synchronization = VariableSynchronization::on_read,
                 .aggregation = VariableAggregation::sum}) {}

void Tally::add(double amount) {
  const StrategyContext& context = current_context();
  if (context.replica != nullptr || context.update_replica) return sum_.assign_add(amount);
  bool adds = sum_.strategy().layout().worker == 0;  // the first component alone
  sum_.update([&](double& component) {
    if (std::exchange(adds, false)) component += amount;
  });
}

double Mean::result() const {
  const double count = count_.total();
  const double sum = sum_.total();
  return count == 0 ? 0 : sum / count;
}

void Mean::reset_state() {
  sum_.reset();
  count_.reset();
}

void Accuracy::check_counts(std::size_t labels, std::size_t predictions) {
  if (labels == predictions) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("Accuracy::update_state: {} labels and {} predictions: give one of each for every example",
                          labels, predictions));
}

}  // namespace chorus
