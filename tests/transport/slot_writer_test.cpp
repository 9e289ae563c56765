// SPDX-License-Identifier: Apache-2.0
#include "transport/slot_writer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

namespace chorus::test {
namespace {

using kernels::Store;

/// Lets `way` choose `writes` times, which take what `times` says; returns how many were streamed.
int write(FasterWay& way, int writes, std::map<Store, double> times) {
  int streamed = 0;
  for (int i = 0; i < writes; ++i) {
    const Store next = way.next();
    streamed += next == Store::streamed ? 1 : 0;
    way.took(next, times[next]);
  }
  return streamed;
}

TEST(FasterWay, FollowsWhereCoresMove) {
  FasterWay way;
  write(way, 2000, {{Store::streamed, 1}, {Store::cached, 5}});
  EXPECT_EQ(way.now(), Store::streamed) << "cores far from each other";
  write(way, 2000, {{Store::streamed, 1}, {Store::cached, 0.5}});
  EXPECT_EQ(way.now(), Store::cached) << "near each other";
  write(way, 2, {{Store::streamed, 1}, {Store::cached, 5}});
  EXPECT_EQ(way.now(), Store::streamed) << "far again, seen at the second slow write";
}

TEST(FasterWay, StaysWhereTheOtherIsLittleFaster) {
  FasterWay way;
  EXPECT_EQ(write(way, 768, {{Store::streamed, 1}, {Store::cached, 2.9}}), 765) << "all but three looks at the other";
}

TEST(FasterWay, KeepsToStreamedStoresWhereTheyAreSlowForAWhile) {
  FasterWay way;
  write(way, 20, {{Store::streamed, 1}, {Store::cached, 8}});
  write(way, 20, {{Store::streamed, 3}, {Store::cached, 8}});
  EXPECT_EQ(way.now(), Store::streamed);
}

TEST(FasterWay, IsNotMovedByOneInterruption) {
  FasterWay way;
  write(way, 800, {{Store::streamed, 1}, {Store::cached, 3}});
  write(way, 1, {{Store::streamed, 1000}, {Store::cached, 1}});
  EXPECT_EQ(way.now(), Store::streamed);
}

TEST(SlotWriter, WritesTheSameInEachWay) {
  for (const bool streams : {false, true}) {
    SlotWriter writer;
    writer.set_pace({.cached = streams ? 1.0 : 2.0, .streamed = streams ? 2.0 : 1.0});
    for (const std::size_t bytes : {0, 1, 4095, 4096, 32767, 32768, 100001}) {
      std::vector<std::byte> data(bytes);
      for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 % 253);
      for (int repetition = 0; repetition < 12; ++repetition) {  // among them those that look at the other way
        std::vector<std::byte> place(bytes + 1, std::byte{1});
        if (bytes < SlotWriter::timed_from) {
          writer.write(place.data(), data.data(), bytes);
        } else {
          writer.write_timed(place.data(), data.data(), bytes);
        }
        EXPECT_EQ(std::memcmp(place.data(), data.data(), bytes), 0) << bytes;
        EXPECT_EQ(place.back(), std::byte{1});
      }
    }
  }
}

}  // namespace
}  // namespace chorus::test
