// SPDX-License-Identifier: Apache-2.0
#include "lending.hpp"

namespace chorus {

Task<> until_all_have_read(SharedGroup& memory) {
  const Round read = co_await memory.open(line_slots);
  memory.arrive(read);
  co_await memory.arrivals(read);
  memory.check_others();  // who has arrived may have given up since, before this rank read its data
}

Task<> until_all_have_read(SharedGroup& memory, int lender) {
  memory.check_others();
  const Round read = co_await memory.open(line_slots);
  memory.arrive(read);
  if (memory.rank() == lender) co_await memory.arrivals(read);
}

}  // namespace chorus
