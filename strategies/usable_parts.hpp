// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/device.hpp>
#include <chorus/strategies/communication_options.hpp>

#include <span>
#include <string>

namespace chorus {

// What a strategy is made of may be wrong on one worker alone. The functions here ask nobody else.

/// Throws   Error{invalid_argument} for a negative timeout.
void check_usable(const CommunicationOptions& options);
/// Throws   Error{invalid_argument} where a device of `strategy` is named twice.
void check_named_once(const std::string& strategy, std::span<const Device> devices);
/// Throws   Error{invalid_argument} where this process may not run on all of a device; what CurrentGpu throws.
void check_may_run_on(std::span<const Device> devices);

}  // namespace chorus
