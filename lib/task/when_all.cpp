// SPDX-License-Identifier: Apache-2.0
#include "task/when_all.hpp"

#include "task/operation.hpp"

namespace chorus {

void Countdown::end_others(Operation& operation, const std::exception_ptr& error) {
  failed = true;
  operation.cancel(error);
}

}  // namespace chorus
