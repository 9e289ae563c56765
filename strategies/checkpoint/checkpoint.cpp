// SPDX-License-Identifier: Apache-2.0
// Worker 0 writes and reads the files; the others take part in what is collective: reading a variable that is
// synchronised on read, learning whether worker 0 has failed, and getting the values that it has read. No worker waits
// for one that does not come, as every step that can fail on worker 0 alone is followed by a Chief::settle; and all
// that takes long is done just before one, which is patient.
#include <chorus/strategies/checkpoint.hpp>

#include "checkpoint/chief.hpp"
#include "checkpoint/reader.hpp"
#include "checkpoint/writer.hpp"
#include "cross_device_ops/reduction.hpp"
#include "other_strategy.hpp"

#include <chorus/detail/fnv1a.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/extended.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string_view>

namespace chorus {

namespace detail {
CheckpointItem::CheckpointItem(CheckpointItemFacts facts) : facts_(std::move(facts)) {}
CheckpointItem::~CheckpointItem() = default;
}  // namespace detail

namespace {

using detail::CheckpointItem;
using detail::CheckpointItems;

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("Checkpoint: {}", why));
}

/// The first item that is of a strategy; null where none is.
const CheckpointItem* first_of_strategy(const CheckpointItems& items) {
  const auto first = std::ranges::find_if(items, [](const auto& item) { return item->facts().strategy != nullptr; });
  return first == items.end() ? nullptr : first->get();
}

/// Throws unless the items can be kept together.
void check(const CheckpointItems& items) {
  if (items.empty()) reject("there is nothing to keep: give at least one variable or value");
  std::set<std::string_view> names;
  const CheckpointItem* const first = first_of_strategy(items);
  for (const auto& item : items) {
    const auto& facts = item->facts();
    if (facts.name.empty()) reject("an entry has no name: give each one");
    if (!names.insert(facts.name).second) {
      reject(fmt::format("two entries are called \"{}\": give each a name of its own", facts.name));
    }
    if (item->on_read() && facts.aggregation == VariableAggregation::none) {
      reject(
          fmt::format("\"{}\" is synchronised on read and has no aggregation, so that there is no one value to keep: "
                      "make it with an aggregation",
                      facts.name));
    }
    if (facts.strategy != nullptr && facts.strategy != first->facts().strategy) {
      reject(
          fmt::format("\"{}\" belongs to {} and \"{}\" to {}: make all variables in the scope of one, or a checkpoint "
                      "for each strategy",
                      first->facts().name, the(*first->facts().strategy), facts.name,
                      beside(*first->facts().strategy, *facts.strategy)));
    }
  }
}

/// The strategy of the items' variables; where there are none this thread's. Throws unless they can be kept together.
Strategy& strategy_of(const CheckpointItems& items) {
  const CheckpointItem* const first = first_of_strategy(items);
  Strategy& strategy = first == nullptr ? get_strategy() : *first->facts().strategy;
  strategy.extended().group().ahead([&] { check(items); });
  return strategy;
}

CheckpointItems items_of(std::span<const CheckpointEntry> entries) {
  CheckpointItems items;
  for (const CheckpointEntry& entry : entries) items.insert(items.end(), entry.items().begin(), entry.items().end());
  return items;
}

/// Frees what items have read or staged, also when an exception passes.
struct Forgetting {
  explicit Forgetting(const CheckpointItems& all) : items(all) {}
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;
  ~Forgetting() {
    for (const auto& item : items) item->forget();
  }
  const CheckpointItems& items;
};

/// The hash of what must be the same on all workers.
std::uint64_t checksum(const CheckpointItems& items) {
  detail::Fnv1a hash;
  for (const auto& item : items) {
    hash.add(item->facts().name);
    hash.add(static_cast<std::uint64_t>(item->facts().type));
    const Shape shape = item->shape();
    hash.add(shape.size());
    for (const std::size_t length : shape) hash.add(std::uint64_t{item->facts().any_shape ? 0 : length});
  }
  return hash.value();
}

/// Gives every worker the step and the shapes that worker 0 has read: of each item whether it is there, then its
/// lengths.
void share_shapes(const Chief& chief, const CheckpointItems& items, StagedCheckpoint& staged,
                  std::vector<std::optional<Shape>>& shapes) {
  std::vector<std::int64_t> numbers{staged.step};
  for (const auto& value : staged.values) {
    numbers.push_back(value ? 1 : 0);
    if (!value) continue;
    for (const std::size_t length : value->shape) numbers.push_back(static_cast<std::int64_t>(length));
  }
  chief.share(numbers);
  staged.step = numbers.front();
  auto next = numbers.begin() + 1;
  for (const auto& item : items) {
    shapes.emplace_back();
    if (*next++ == 0) continue;
    shapes.back().emplace();
    for (std::size_t i = item->shape().size(); i > 0; --i) shapes.back()->push_back(static_cast<std::size_t>(*next++));
  }
}

}  // namespace

Checkpoint::Checkpoint(std::initializer_list<CheckpointEntry> entries)
    : items_(items_of({entries.begin(), entries.size()})), strategy_(&strategy_of(items_)) {}

Checkpoint::Checkpoint(const std::vector<CheckpointEntry>& entries)
    : items_(items_of(entries)), strategy_(&strategy_of(items_)) {}

void Checkpoint::save(const std::string& folder, std::int64_t step) const {
  Chief chief(*strategy_, {StrategyFunction::save, items_.size(), checksum(items_), step});
  if (step < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("Checkpoint::save: the step {} is negative: give 0 or more", step));
  }
  const Forgetting forgetting{items_};
  std::vector<TensorRef> values;
  for (const auto& item : items_) {
    values.push_back(chief.here() || item->on_read() ? item->value() : TensorRef{});
  }
  chief.attempt([&] {
    CheckpointWriter writer(folder);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const auto& facts = items_[i]->facts();
      writer.add({.name = facts.name,
                  .type = values[i].type,
                  .shape = values[i].shape,
                  .synchronization = name(facts.synchronization),
                  .aggregation = name(facts.aggregation)},
                 values[i]);
    }
    writer.commit(
        {.step = step, .workers = strategy_->layout().workers, .replicas = strategy_->num_replicas_in_sync()});
  });
  chief.settle();
}

std::int64_t Checkpoint::restore(const std::string& folder, const RestoreOptions& options) const {
  Chief chief(*strategy_, {StrategyFunction::restore, items_.size(), checksum(items_), options.partial ? 1 : 0});
  StagedCheckpoint staged{0, std::vector<std::optional<TensorRef>>(items_.size())};
  const Forgetting forgetting{items_};
  chief.attempt([&] { staged = stage_checkpoint(folder, items_, options); });
  chief.settle();
  chief.go_on([&] {
    std::vector<std::optional<Shape>> shapes;
    share_shapes(chief, items_, staged, shapes);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!shapes[i]) continue;
      const TensorRef value = staged.values[i] ? *staged.values[i] : items_[i]->stage(*shapes[i]);
      if (const Communicator* const workers = chief.workers()) broadcast_tensor(*workers, value, {});
      items_[i]->restore();
    }
  });
  return staged.step;
}

}  // namespace chorus
