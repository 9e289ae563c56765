// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/tuning_file.hpp"

namespace chorus {

/// The machine of this process, without MPI. Takes milliseconds the first time.
[[nodiscard]] Site this_machine_as_site();
/// The same with the MPI library that the process uses.
[[nodiscard]] Site this_site();

}  // namespace chorus
