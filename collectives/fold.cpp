// SPDX-License-Identifier: Apache-2.0
#include "fold.hpp"

namespace chorus {

Task<> fold_in(Transport& transport, Fold fold, Reduction reduction, Bytes data, Bytes scratch) {
  if (fold.sits_out()) {
    co_await transport.send(data, fold.partner());
  } else {
    co_await transport.receive(scratch, fold.partner());
    reduction.into_left(data, scratch);
  }
}

Task<> fold_out(Transport& transport, Fold fold, Bytes data) {
  if (fold.sits_out()) {
    co_await transport.receive(data, fold.partner());
  } else {
    co_await transport.send(data, fold.partner());
  }
}

}  // namespace chorus
