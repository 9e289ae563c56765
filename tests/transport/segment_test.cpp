// SPDX-License-Identifier: Apache-2.0
#include "transport/segment.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>

namespace chorus::test {
namespace {

constexpr std::size_t length = 10'000;

void expect_reached(const std::shared_ptr<Segment>& segment) {
  ASSERT_NE(segment, nullptr);
  const Segment::Lease lease = Segment::lease(segment, length);
  ASSERT_TRUE(lease);
  const std::shared_ptr<Mapping> mapping = Mapping::attach(segment->address());
  ASSERT_NE(mapping, nullptr);
  ASSERT_NE(mapping->base() + lease.offset(), lease.data());
  EXPECT_EQ(lease.data()[length - 1], std::byte{0});
  mapping->base()[lease.offset() + length - 1] = std::byte{7};
  EXPECT_EQ(lease.data()[length - 1], std::byte{7});
}

TEST(Segment, WithoutANameIsReached) { expect_reached(Segment::make_memfd()); }

TEST(Segment, WithANameIsReachedUntilItIsUnlinked) {
  const std::shared_ptr<Segment> segment = Segment::make_named(length);
  expect_reached(segment);
  const SegmentAddress address = segment->address();
  const std::string path = address.name.data();
  EXPECT_EQ(access(path.c_str(), F_OK), 0) << path;
  segment->unlink();
  EXPECT_NE(access(path.c_str(), F_OK), 0) << path;
  EXPECT_EQ(Mapping::attach(address), nullptr);
}

TEST(Segment, WithANameLeavesNothingBehind) {
  std::shared_ptr<Segment> segment = Segment::make_named(length);
  ASSERT_NE(segment, nullptr);
  const std::string path = segment->address().name.data();
  segment.reset();
  EXPECT_NE(access(path.c_str(), F_OK), 0) << path;
}

TEST(Segment, WithANameIsRefusedWithTheReasonWhereThereIsNoRoom) {
  const std::size_t room = Segment::room_for_named();
  EXPECT_GT(room, length);
  EXPECT_EQ(Segment::make_named(std::size_t{1} << 52U), nullptr);
  EXPECT_TRUE(errno == ENOSPC || errno == EFBIG) << errno;
}

/// The system ends by a signal who makes a file longer than its limit.
TEST(Segment, WithANameIsRefusedWhereFilesMayNotBeAsLong) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit low{length, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const std::shared_ptr<Segment> segment = Segment::make_named(length);
  const int refused = errno;
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(segment, nullptr);
  EXPECT_EQ(refused, EFBIG);
}

TEST(Segment, IsNotTakenForAnother) {
  const std::shared_ptr<Segment> segment = Segment::make_memfd();
  ASSERT_NE(segment, nullptr);
  SegmentAddress wrong = segment->address();
  ++wrong.key[0];
  EXPECT_EQ(Mapping::attach(wrong), nullptr);
}

TEST(Segment, LendsPiecesThatBeginWhereTheyMust) {
  const std::shared_ptr<Segment> segment = Segment::make_memfd();
  ASSERT_NE(segment, nullptr);
  constexpr std::size_t huge = std::size_t{2} << 20U;
  const Segment::Lease first = Segment::lease(segment, 1);
  const Segment::Lease aligned = Segment::lease(segment, length, huge);
  ASSERT_TRUE(aligned);
  EXPECT_EQ(aligned.offset(), huge);
  // What lies between is lent, too, and what comes back is whole again.
  EXPECT_EQ(Segment::lease(segment, huge - 2 * Segment::page).offset(), 2 * Segment::page);
  EXPECT_EQ(Segment::lease(segment, huge).offset(), huge + aligned.bytes());
}

TEST(Segment, LendsNoMoreThanItHas) {
  const std::shared_ptr<Segment> segment = Segment::make_named(4 * Segment::page);
  ASSERT_NE(segment, nullptr);
  EXPECT_FALSE(Segment::lease(segment, 5 * Segment::page));
  EXPECT_FALSE(Segment::lease(segment, ~std::size_t{0}));
  for (int again = 0; again < 3; ++again) {
    const Segment::Lease all = Segment::lease(segment, 4 * Segment::page);
    EXPECT_TRUE(all);
    EXPECT_FALSE(Segment::lease(segment, 1));
  }
}

}  // namespace
}  // namespace chorus::test
