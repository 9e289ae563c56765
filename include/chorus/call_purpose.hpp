// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace chorus {

/// What a rank's calls are for, where the collectives that they make do not tell: Communicator::set_purpose.
struct CallPurpose {
  std::uint32_t number = 0;  ///< what the ranks compare; 0: nothing is said
  /// What a number says, in messages: also one of another rank's. Of static storage duration; may be null.
  std::string (*text)(std::uint32_t number) = nullptr;
};

}  // namespace chorus
