// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/operation.hpp"
#include "transport/shared_group.hpp"

#include <string>

namespace chorus {

/// Awaited, says whether `peer` has copied all that others had for it in their own memory in `round`, where it copies
/// something (SharedGroup::give_receipt): they may change it then, or have to give it in another way.
class Receipt final : public PolledEvent {
 public:
  Receipt(const SharedGroup& group, Round round, int peer, Where where = Where::here()) noexcept
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
