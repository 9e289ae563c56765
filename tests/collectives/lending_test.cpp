// SPDX-License-Identifier: Apache-2.0
// Ranks read each other's own memory where it lies. Whoever lends it may give the call up, and change it, while another
// is about to read: what a stopped process does when it goes on.
#include "base/names.hpp"
#include "carry_out.hpp"
#include "collectives/oracle.hpp"
#include "collectives/prepared_call.hpp"
#include "task/operation.hpp"
#include "transport/shared_group.hpp"
#include "worlds/worlds.hpp"

#include <chorus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

using Row = std::pair<Collective, const Algorithm*>;

std::vector<Row> rows() {
  std::vector<Row> all;
  for (int number = 0; number < even_collective_count; ++number) {
    const auto collective = static_cast<Collective>(number);
    for (const Algorithm* algorithm : algorithms(collective)) {
      if (!needs_vendor(*algorithm)) all.emplace_back(collective, algorithm);
    }
  }
  return all;
}

/// Drives a rank as far as it comes by itself.
void drive(Operation& operation) {
  while (!operation.done() && operation.step()) continue;
}

class LentData : public testing::TestWithParam<Row> {
 protected:
  static void give_up_before_the_other_reads(int lender, const PreparedCall& prepared) {
    const auto world = make_world({.kind = WorldKind::threads, .ranks = 2});
    const Algorithm& algorithm = *GetParam().second;
    if (!algorithm.applies(problem_of(prepared.call(), world->transport(0))) || world->transport(0).shared() == nullptr)
      return;
    RankBuffers lent(prepared, lender);
    RankBuffers read(prepared, 1 - lender);
    Operation lending(carry_out(algorithm, world->transport(lender), lent.arguments()));
    Operation reading(carry_out(algorithm, world->transport(1 - lender), read.arguments()));
    reading.step();  // says what it wants, and stops
    drive(lending);
    if (lending.done()) return;  // it keeps its data as long as the call lasts, and no longer
    SharedGroup& memory = *world->transport(lender).shared();
    memory.publish_failure(static_cast<int>(ErrorCode::timeout), "it has waited too long");
    lending.cancel(std::make_exception_ptr(Error(ErrorCode::timeout, "it has waited too long")));
    const Arguments changed = lent.arguments();
    std::fill_n(const_cast<std::byte*>(changed.in), prepared.in_count(lender) * sizeof(int), std::byte{0x77});
    std::fill_n(changed.out, prepared.out_count(lender) * sizeof(int), std::byte{0x77});
    drive(reading);
    if (!reading.done()) return;  // it waits, and will hear of it
    try {
      reading.result();
    } catch (const Error&) {
      return;
    }
    EXPECT_NO_THROW(read.check()) << algorithm.name << " lent by rank " << lender << ", " << prepared.describe();
  }
};

TEST_P(LentData, OfWhoGivesUpIsNotTakenForWhole) {
  const Collective collective = GetParam().first;
  for (const Registered registered : {Registered::none, Registered::all, Registered::inputs, Registered::outputs}) {
    for (const int lender : {0, 1}) {
      for (const std::size_t count : {100U, 300U, 5000U}) {
        const Call call{collective, DataType::int32, ReduceOp::sum, 0, collective == Collective::barrier ? 0U : count};
        give_up_before_the_other_reads(
            lender, PreparedCall(call, 2, {.in_place = collective == Collective::bcast, .registered = registered}));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, LentData, testing::ValuesIn(rows()), [](const auto& test) {
  return std::string(name(test.param.first)) + "_" + std::string(test.param.second->name);
});

}  // namespace
}  // namespace chorus::test
