// SPDX-License-Identifier: Apache-2.0
#include <chorus/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace chorus {
namespace {

TEST(Error, SaysWhoSpeaksWhatHappenedAndItsCode) {
  const Error error(ErrorCode::peer_lost, "rank 3 is gone");
  EXPECT_STREQ(error.what(), "chorus: rank 3 is gone [peer_lost]");
  EXPECT_EQ(error.message(), "rank 3 is gone");
  EXPECT_EQ(error.code(), ErrorCode::peer_lost);
}

TEST(Error, EveryCodeHasItsOwnName) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::revoked); ++code) {
    names.insert(name(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorCode::revoked) + 1);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
}  // namespace chorus
