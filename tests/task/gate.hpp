// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/operation.hpp"

#include <stdexcept>
#include <string>

namespace chorus::test {

/// Something to wait for that a test opens.
struct Gate {
  class Pass final : public PolledEvent {
   public:
    Pass(Gate& gate, Where where) noexcept : PolledEvent(where), gate_(gate) {}

   private:
    bool ready() override {
      if (gate_.broken) throw std::domain_error("the gate is broken");
      return gate_.open;
    }
    void abandon() noexcept override { ++gate_.abandoned; }
    [[nodiscard]] std::string what() const override { return "waiting for a gate"; }
    [[nodiscard]] Bell* bell() noexcept override { return gate_.bell; }

    Gate& gate_;
  };
  [[nodiscard]] Pass pass(Where where = Where::here()) noexcept { return {*this, where}; }

  bool open = false;
  bool broken = false;
  int abandoned = 0;
  Bell* bell = nullptr;
};

}  // namespace chorus::test
