// SPDX-License-Identifier: Apache-2.0
#include "input/warnings.hpp"

#include <iostream>
#include <mutex>
#include <set>
#include <string>

namespace chorus::detail {

void warn(const InputOptions& options, const ReplicaLayout& layout, const std::string& text) {
  if (layout.worker != 0) return;
  if (options.warn) return options.warn(text);
  static std::mutex mutex;
  static std::set<std::string> printed;
  const std::lock_guard lock(mutex);
  if (printed.insert(text).second) std::cerr << "chorus: warning: " + text + "\n";
}

}  // namespace chorus::detail
