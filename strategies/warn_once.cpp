// SPDX-License-Identifier: Apache-2.0
#include "warn_once.hpp"

#include <iostream>
#include <mutex>
#include <set>

namespace chorus {

void warn_once(const ReplicaLayout& layout, const std::string& text) {
  if (layout.worker != 0) return;
  static std::mutex mutex;
  static std::set<std::string> printed;
  const std::lock_guard lock(mutex);
  if (printed.insert(text).second) std::cerr << "chorus: warning: " + text + "\n";
}

}  // namespace chorus
