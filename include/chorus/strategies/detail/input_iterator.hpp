// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace chorus::detail {

/// Goes through what Source::next() gives, once: for loops and the algorithms of std::ranges.
template <class Source>
class InputIterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using value_type = typename decltype(std::declval<Source&>().next())::value_type;

  explicit InputIterator(Source source) : state_(std::make_unique<State>(State{std::move(source), std::nullopt})) {
    ++*this;
  }

  /// May be moved from.
  [[nodiscard]] value_type& operator*() const noexcept { return *state_->current; }
  [[nodiscard]] value_type* operator->() const noexcept { return &*state_->current; }
  InputIterator& operator++() {
    state_->current = state_->source.next();
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t /*end*/) const noexcept { return !state_->current; }

 private:
  struct State {
    Source source;
    std::optional<value_type> current;
  };
  std::unique_ptr<State> state_;
};

}  // namespace chorus::detail
