// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace chorus::tune {

/// Takes CHORUS_TUNING_FILE out of the environment where no communicator could be set up with it here: it may name the
/// file that is to be written, or one to be replaced. Returns why, on one line; empty where the file can be used or
/// none is named. To be called while the process has one thread.
[[nodiscard]] std::string leave_unusable_file();

}  // namespace chorus::tune
