// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/operation.hpp"
#include "transport/shared_group.hpp"

#include <string>

namespace chorus {

/// This rank has copied `all` that others have for it in their own memory in `round`, or could not: they wait for that.
void give_receipt(SharedGroup& group, Round round, bool all);

/// Awaited, says what the receipt of `peer` says, for one that gives something in `round`: it may change that then, or
/// has to give it in another way.
class CopyReceipt final : public PolledEvent {
 public:
  CopyReceipt(const SharedGroup& group, Round round, int peer, Where where = Where::here()) noexcept
      : PolledEvent(where), group_(group), round_(round), peer_(peer) {}
  [[nodiscard]] bool await_resume() const {
    PolledEvent::await_resume();
    return copied_;
  }
  [[nodiscard]] Bell* bell() noexcept override { return group_.bell_of(peer_); }

 private:
  bool ready() override;
  [[nodiscard]] std::string what() const override;

  const SharedGroup& group_;
  Round round_;
  int peer_;
  bool copied_ = false;
};

}  // namespace chorus
