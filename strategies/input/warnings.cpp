// SPDX-License-Identifier: Apache-2.0
#include "input/warnings.hpp"

#include "warn_once.hpp"

namespace chorus::detail {

void warn(const InputOptions& options, const ReplicaLayout& layout, const std::string& text) {
  if (!options.warn) return warn_once(layout, text);
  if (layout.worker == 0) options.warn(text);
}

}  // namespace chorus::detail
