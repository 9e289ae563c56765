// SPDX-License-Identifier: Apache-2.0
#include "base/buffer_pool.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

namespace chorus {
namespace {

TEST(BufferPool, GivesAlignedMemoryOfTheLengthAskedFor) {
  BufferPool pool;
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 1000, 4096, 100'000}) {
    const Scratch scratch = pool.take(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(scratch.data()) % 64, 0U);
    ASSERT_EQ(scratch.bytes().size(), bytes);
    ASSERT_EQ(scratch.bytes().data(), scratch.data());
    if (bytes > 0) std::memset(scratch.data(), 0xFF, bytes);  // AddressSanitizer says whether it is there
  }
}

TEST(BufferPool, GivesTheSameMemoryAgain) {
  BufferPool pool;
  const std::byte* const first = pool.take(1000).data();
  EXPECT_EQ(pool.take(1000).data(), first);
  EXPECT_EQ(pool.take(600).data(), first) << "a length of the same power of two";
}

TEST(BufferPool, GivesWhatIsInUseToNobodyElse) {
  BufferPool pool;
  std::set<const std::byte*> places;
  for (int round = 0; round < 3; ++round) {
    const Scratch one = pool.take(256), two = pool.take(256), longer = pool.take(512);
    EXPECT_NE(one.data(), two.data());
    EXPECT_NE(two.data(), longer.data());
    places.insert({one.data(), two.data(), longer.data()});
  }
  EXPECT_EQ(places.size(), 3U) << "the second and third round allocate nothing";
}

TEST(BufferPool, MovedScratchIsGivenBackOnce) {
  BufferPool pool;
  std::optional<Scratch> kept;
  const std::byte* place = nullptr;
  {
    Scratch scratch = pool.take(128);
    place = scratch.data();
    kept.emplace(std::move(scratch));
  }
  EXPECT_EQ(kept->data(), place);
  EXPECT_NE(pool.take(128).data(), place) << "it is still in use";
  kept.reset();
  const Scratch one = pool.take(128), two = pool.take(128);
  EXPECT_TRUE(one.data() == place || two.data() == place);
  EXPECT_NE(one.data(), two.data());
}

}  // namespace
}  // namespace chorus
