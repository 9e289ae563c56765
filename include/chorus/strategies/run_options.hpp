// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/communication_options.hpp>

namespace chorus {

/// What holds for one run. The same on every worker.
struct RunOptions {
  /// For all that communicates in the run and gives no options of its own; what is not set is as the strategy has it.
  CommunicationOptions communication = {};
};

}  // namespace chorus
