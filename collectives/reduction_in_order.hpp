// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

namespace chorus {

/// Reduces blocks of any lengths and scatters them: every rank sends every other one its block; when all have come,
/// they are reduced in the order of the ranks. Each rank holds its block of every rank at a time.
Task<> reduce_in_order(Transport& transport, Arguments arguments);

}  // namespace chorus
