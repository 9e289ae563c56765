// SPDX-License-Identifier: Apache-2.0
#include "cross_device_ops/packs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace chorus::test {
namespace {

/// The bytes of the tensors of each pack.
std::vector<std::vector<std::size_t>> packed(const std::vector<std::size_t>& bytes, std::size_t limit,
                                             bool in_memory = false) {
  std::vector<TensorRef> tensors;
  for (const std::size_t each : bytes) tensors.push_back({.type = DataType::uint8, .shape = {each}});
  std::vector<std::vector<std::size_t>> packs;
  for (const auto& pack : packs_of(tensors, {.bytes_per_pack = limit}, in_memory)) {
    packs.emplace_back();
    for (const std::size_t number : pack) packs.back().push_back(bytes[number]);
  }
  return packs;
}

TEST(Packs, Case79_NoneIsAboveTheLimitUnlessOneTensorIs) {
  using Sizes = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(packed({128, 32, 800, 4}, 200), (Sizes{{128, 32}, {800}, {4}}));
  EXPECT_EQ(packed({100, 100, 100, 100, 100, 100}, 200), (Sizes{{100, 100}, {100, 100}, {100, 100}}));
  EXPECT_EQ(packed({200, 1, 1}, 200), (Sizes{{200}, {1, 1}}));
  EXPECT_EQ(packed({4, 4, 4}, 1), (Sizes{{4}, {4}, {4}}));
  EXPECT_EQ(packed({128, 32, 800, 4}, 0), (Sizes{{128, 32, 800, 4}}));
}

TEST(Packs, Case77_TheLimitHoldsWherePacksThereOvershoot) {
  using Sizes = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(packed({300, 1, 1}, 200), (Sizes{{300}, {1, 1}})) << "as there";
  EXPECT_EQ(packed({128, 32, 800, 4}, 200), (Sizes{{128, 32}, {800}, {4}})) << "there {128, 32, 800}, {4}";
}

template <long long Bytes>
concept BytesOfAPack = requires {
  CommunicationOptions{.bytes_per_pack = Bytes};
};

TEST(Packs, Case76_TensorsOfThreeAndFourElementsMakeOnePackOrTwo) {
  using Sizes = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(packed({3, 4}, 0), (Sizes{{3, 4}})) << "as there with num_packs = 1";
  EXPECT_EQ(packed({3, 4}, 7), (Sizes{{3, 4}}));
  EXPECT_EQ(packed({3, 4}, 6), (Sizes{{3}, {4}})) << "as there with num_packs = 2";
  EXPECT_EQ(packed({3, 4}, 4), (Sizes{{3}, {4}}));
  EXPECT_EQ(packed({3, 0, 4}, 4), (Sizes{{3, 0}, {4}}));
}

TEST(Packs, Case76_TenElementsMakeThreePacks) {
  using Sizes = std::vector<std::vector<std::size_t>>;
  const std::vector<std::size_t> ten(10, 1);
  EXPECT_EQ(packed(ten, 0), (Sizes{ten}));
  EXPECT_EQ(packed(ten, 4), (Sizes{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1}})) << "there 3, 3 and 4";
  EXPECT_EQ(packed({3, 3, 4}, 4), (Sizes{{3}, {3}, {4}})) << "as there with num_packs = 3";
  EXPECT_EQ(packed({10}, 4), (Sizes{{10}})) << "no tensor is divided";
}

TEST(Packs, Case76_ThereAreNotLessThanNoBytesInAPack) {
  static_assert(BytesOfAPack<0> && BytesOfAPack<4>);
  static_assert(!BytesOfAPack<-1>, "there an error when it runs");
}

TEST(Packs, InMemoryHaveShortTensorsOnly) {
  using Sizes = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(packed({10'000, 10'000, 10'000}, 0), (Sizes{{10'000, 10'000, 10'000}}));
  EXPECT_EQ(packed({10'000, 10'000, 10'000}, 0, true), (Sizes{{10'000}, {10'000}, {10'000}}));
  EXPECT_EQ(packed({8, 8, 10'000, 8, 8}, 0, true), (Sizes{{8, 8, 8, 8}, {10'000}}));
  EXPECT_EQ(packed({10'000, 10'000, 10'000}, 20'000, true), (Sizes{{10'000, 10'000}, {10'000}}));
}

}  // namespace
}  // namespace chorus::test
