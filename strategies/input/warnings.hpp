// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/input_options.hpp>

#include <string>

namespace chorus::detail {

/// Tells the user once in a job: by worker 0, to stderr unless the options name another place.
void warn(const InputOptions& options, const ReplicaLayout& layout, const std::string& text);

}  // namespace chorus::detail
