// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

namespace chorus::vendor {

// What the `native` algorithm of every collective is: the vendor's own.

[[nodiscard]] bool applies(const Problem& problem);
Task<> run(Transport& transport, Arguments arguments);
void now(Transport& transport, const Arguments& arguments);

}  // namespace chorus::vendor
