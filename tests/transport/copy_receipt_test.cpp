// SPDX-License-Identifier: Apache-2.0
#include "transport/copy_receipt.hpp"

#include "worlds/worlds.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace chorus::test {
namespace {

constexpr Round early = 3;
constexpr Round late = 7;

class CopyReceipts : public testing::TestWithParam<WorldKind> {
 protected:
  /// What rank 0 hears of `awaited` where rank 1 gives a receipt for `given`.
  static bool heard(Round awaited, Round given, bool all) {
    bool copied = false;
    on_every_rank({.kind = GetParam(), .ranks = 2}, [&](Transport& transport) -> Task<> {
      SharedGroup& memory = *transport.shared();
      if (memory.rank() == 1) {
        give_receipt(memory, given, all);
      } else {
        copied = co_await CopyReceipt(memory, awaited, 1);
      }
    });
    return copied;
  }
};

TEST_P(CopyReceipts, SayWhetherAllWasCopied) {
  EXPECT_TRUE(heard(late, late, true));
  EXPECT_FALSE(heard(late, late, false));
}

// Who could not copy stays in the round until it was given in another way.
TEST_P(CopyReceipts, OfALaterRoundSayThatThoseBeforeItWereCopied) {
  EXPECT_TRUE(heard(early, late, true));
  EXPECT_TRUE(heard(early, late, false));
}

TEST_P(CopyReceipts, OfAnEarlierRoundAreNotTheOneThatIsAwaited) {
  on_every_rank({.kind = GetParam(), .ranks = 2}, [&](Transport& transport) -> Task<> {
    SharedGroup& memory = *transport.shared();
    if (memory.rank() == 1) give_receipt(memory, early, true);
    co_await memory.meet();
    if (memory.rank() == 1) give_receipt(memory, late, false);
    if (memory.rank() == 0 && co_await CopyReceipt(memory, late, 1)) throw std::logic_error("took the earlier one");
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, CopyReceipts, testing::Values(WorldKind::simulated, WorldKind::threads),
                         [](const auto& info) { return info.param == WorldKind::threads ? "threads" : "simulated"; });

}  // namespace
}  // namespace chorus::test
