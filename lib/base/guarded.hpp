// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace chorus {

/// A value that any thread may read and change.
template <class T>
class Guarded {
 public:
  [[nodiscard]] T get() {
    const std::scoped_lock lock(mutex_);
    return value_;
  }
  /// `change(value)`
  template <class Change>
  void update(Change change) {
    const std::scoped_lock lock(mutex_);
    change(value_);
  }

 private:
  std::mutex mutex_;
  T value_;
};

}  // namespace chorus
