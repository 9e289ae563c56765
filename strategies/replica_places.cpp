// SPDX-License-Identifier: Apache-2.0
#include "replica_places.hpp"

#include "call_shapes.hpp"
#include "type_text.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/strategy_call.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace chorus {
namespace {

/// The types, where they are the same as those of `other` the function.
std::string text_of(const ReplicaGroup::Use& one, const ReplicaGroup::Use& other) {
  const std::type_info* const type = one.same_types(other) ? one.function : one.types;
  if (type == nullptr) return "none";
  return type_text(*type) + (type == one.function && one.code != nullptr ? fmt::format(" at {}", one.code) : "");
}

struct Difference {
  const std::string& place;
  const char* what;
};

[[noreturn]] void reject_different(const ReplicaLayout& layout, const Difference& in, const std::string& first,
                                   std::size_t local_replica, const std::string& other) {
  throw Error(ErrorCode::mismatch,
              fmt::format("Strategy::run: the replicas have come to {} with different {}: replica {} with {}, replica "
                          "{} with {}: give the same in every replica",
                          in.place, in.what, layout.first_replica(), first,
                          layout.first_replica() + static_cast<int>(local_replica), other));
}

}  // namespace

std::string ReplicaPlaces::Standing::text() const {
  if (const std::uint32_t kind = call.load(std::memory_order_relaxed); kind != 0) {
    return StrategyCall::text_of_kind(kind);
  }
  const char* const meeting = name.load(std::memory_order_relaxed);
  return meeting != nullptr ? meeting : "no place";
}

void ReplicaPlaces::reset() noexcept {
  for (Standing& standing : places_) standing.calls.store(0, std::memory_order_relaxed);
}

void ReplicaPlaces::stand(int local_replica, const char* name, std::uint32_t call, std::uint32_t tensors) noexcept {
  Standing& standing = places_[static_cast<std::size_t>(local_replica)];
  standing.name.store(name, std::memory_order_relaxed);
  standing.call.store(call, std::memory_order_relaxed);
  standing.tensors.store(tensors, std::memory_order_relaxed);
  standing.calls.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t ReplicaPlaces::call_of(int local_replica) const noexcept {
  return at(local_replica).call.load(std::memory_order_relaxed);
}

void ReplicaPlaces::reject_different(const ReplicaLayout& layout) const {
  const std::string first = places_.front().text();
  for (std::size_t replica = 1; replica < places_.size(); ++replica) {
    if (const std::string other = places_[replica].text(); other != first) reject_places(layout, first, replica, other);
  }
  const std::uint32_t tensors = places_.front().tensors.load(std::memory_order_relaxed);
  for (std::size_t replica = 1; replica < places_.size(); ++replica) {
    const std::uint32_t other = places_[replica].tensors.load(std::memory_order_relaxed);
    if (other == tensors) continue;
    chorus::reject_different(layout, {first, "tensors"}, detail::tensors_of(tensors), replica,
                             detail::tensors_of(other));
  }
  if (first != end_of_run) return;  // what others do not wait for may be behind them by now
  const int calls = places_.front().so_far();
  for (std::size_t replica = 1; replica < places_.size(); ++replica) {
    if (const int other = places_[replica].so_far(); other != calls) {
      reject_places(layout, fmt::format("{}, after {} calls", first, calls - 1), replica,
                    fmt::format("the same after {}", other - 1));
    }
  }
}

void ReplicaPlaces::reject_missing(const ReplicaLayout& layout, std::chrono::nanoseconds waited) const {
  const auto farthest = std::ranges::max_element(places_, {}, &Standing::so_far);
  std::string missing;
  for (const Standing& standing : places_) {
    if (standing.so_far() >= farthest->so_far()) continue;
    missing += fmt::format(
        "{}replica {}, {}", missing.empty() ? "" : "; ", layout.first_replica() + (&standing - places_.data()),
        standing.so_far() == 0 ? "which has made no call in this run" : "whose last call was " + standing.text());
  }
  if (missing.empty()) return;
  throw Error(
      ErrorCode::timeout,
      fmt::format("Strategy::run: replica {} has waited {:.2g} s in {} for {}: see what keeps it, or set a longer "
                  "timeout (CommunicationOptions::timeout, CHORUS_TIMEOUT)",
                  layout.first_replica() + (farthest - places_.begin()), std::chrono::duration<double>(waited).count(),
                  farthest->text(), missing));
}

void reject_places(const ReplicaLayout& layout, const std::string& first, std::size_t local_replica,
                   const std::string& other) {
  throw Error(
      ErrorCode::mismatch,
      fmt::format(
          "Strategy::run: the replicas have come to different places: replica {} to {}, replica {} to {}: make the "
          "same calls in every replica",
          layout.first_replica(), first, layout.first_replica() + static_cast<int>(local_replica), other));
}

void reject_uses(const ReplicaLayout& layout, const std::string& place, const ReplicaGroup::Use& first,
                 std::size_t local_replica, const ReplicaGroup::Use& other) {
  const char* const what = first.same_types(other) ? "functions" : "types";
  reject_different(layout, {place, what}, text_of(first, other), local_replica, text_of(other, first));
}

void reject_arguments(const ReplicaLayout& layout, const std::string& place, const std::string& first,
                      std::size_t local_replica, const std::string& other) {
  reject_different(layout, {place, "arguments"}, first, local_replica, other);
}

}  // namespace chorus
