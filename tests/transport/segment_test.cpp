// SPDX-License-Identifier: Apache-2.0
#include "transport/segment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(Segment, IsNotTakenForAnother) {
  const std::shared_ptr<Segment> segment = Segment::make_memfd();
  ASSERT_NE(segment, nullptr);
  SegmentAddress wrong = segment->address();
  ++wrong.key[0];
  EXPECT_EQ(Mapping::attach(wrong), nullptr);
}

}  // namespace
}  // namespace chorus::test
