// SPDX-License-Identifier: Apache-2.0
#include <chorus/detail/fnv1a.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace chorus::detail {
namespace {

constexpr std::uint64_t of_bytes(std::string_view text) {
  Fnv1a hash;
  for (const char letter : text) hash.add_byte(static_cast<unsigned char>(letter));
  return hash.value();
}

// The vectors of the authors: http://www.isthe.com/chongo/src/fnv/test_fnv.c.
static_assert(of_bytes("") == 0xcbf29ce484222325U);
static_assert(of_bytes("a") == 0xaf63dc4c8601ec8cU);
static_assert(of_bytes("foobar") == 0x85944171f73967e8U);

TEST(Fnv1a, TellsWhereTextsEnd) {
  Fnv1a left;
  left.add("ab");
  left.add("c");
  Fnv1a right;
  right.add("a");
  right.add("bc");
  EXPECT_NE(left.value(), right.value());
}

TEST(Fnv1a, NumbersAreTheirBytes) {
  Fnv1a number;
  number.add(std::uint64_t{0x6665646362616160U});
  EXPECT_EQ(number.value(), of_bytes("`aabcdef"));
}

}  // namespace
}  // namespace chorus::detail
