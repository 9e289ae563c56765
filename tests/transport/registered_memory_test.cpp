// SPDX-License-Identifier: Apache-2.0
#include "transport/registered_memory.hpp"

#include "transport/segment.hpp"

#include <chorus/memory.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::test {
namespace {

constexpr std::size_t KiB = 1024;
constexpr std::size_t MiB = 1024 * KiB;

/// Shared memory that this process has touched.
std::size_t resident_kib() {
  std::ifstream file("/proc/self/status");
  std::string word;
  std::size_t kib = 0;
  while (file >> word) {
    if (word == "RssShmem:") file >> kib;
  }
  return kib;
}

TEST(RegisteredMemory, IsAlignedAndCanBeWritten) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{65}, 16 * KiB - 1,
                                  16 * KiB, 100 * KiB + 1, 2 * MiB, 5 * MiB + 1}) {
    void* const data = allocate(bytes);
    ASSERT_NE(data, nullptr);
    std::memset(data, 7, bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    EXPECT_EQ(address % 64, 0U) << bytes;
    EXPECT_EQ(is_registered(data, std::max<std::size_t>(bytes, 1)), bytes >= 16 * KiB) << bytes;
    if (bytes >= 2 * MiB) {
      EXPECT_EQ((address - Segment::of_this_process()->address().base) % (2 * MiB), 0U);
    }
    deallocate(data);
  }
}

TEST(RegisteredMemory, IsInTheSegmentThatOthersMap) {
  auto* const data = static_cast<std::byte*>(allocate(100 * KiB));
  const SegmentAddress& address = Segment::of_this_process()->address();
  const std::shared_ptr<Mapping> mapping = Mapping::attach(address);
  ASSERT_NE(mapping, nullptr);
  data[77] = std::byte{5};
  EXPECT_EQ(mapping->base()[reinterpret_cast<std::uint64_t>(data) - address.base + 77], std::byte{5});
  deallocate(data);
}

TEST(RegisteredMemory, GoesBackToTheSystem) {
  const std::size_t before = resident_kib();
  void* const data = allocate(64 * MiB);
  ASSERT_TRUE(is_registered(data, 64 * MiB));
  std::memset(data, 7, 64 * MiB);
  EXPECT_GE(resident_kib(), before + 64 * KiB);
  deallocate(data);
  EXPECT_LT(resident_kib(), before + KiB);
}

TEST(RegisteredMemory, IsUsedAgain) {
  std::vector<void*> first;
  for (int number = 0; number < 100; ++number) first.push_back(allocate(40 * KiB));
  for (void* const data : first) deallocate(data);
  std::vector<void*> second;
  for (int number = 0; number < 100; ++number) second.push_back(allocate(40 * KiB));
  EXPECT_EQ(first, second);
  for (void* const data : second) deallocate(data);
}

TEST(RegisteredMemory, OfOtherKindsIsTold) {
  std::vector<std::byte> ordinary(100 * KiB);
  void* const data = allocate(100 * KiB);
  EXPECT_FALSE(is_registered(ordinary.data(), ordinary.size()));
  EXPECT_FALSE(is_registered(nullptr, 1));
  EXPECT_FALSE(is_registered(data, std::size_t{1} << 46U)) << "it ends before";
  EXPECT_FALSE(is_registered(data, ~std::size_t{0}));
  deallocate(data);
  deallocate(nullptr);
}

TEST(RegisteredMemory, WhichThereIsNotEnoughOfIsRefused) {
  for (const std::size_t bytes : {std::size_t{1} << 60U, ~std::size_t{0}, ~std::size_t{0} - 63}) {
    try {
      deallocate(allocate(bytes));
      ADD_FAILURE() << "got " << bytes << " bytes";
    } catch (const std::bad_alloc& error) {
      EXPECT_EQ(error.what(), "chorus::allocate: no memory for " + std::to_string(bytes) + " bytes");
    }
  }
  EXPECT_THROW(static_cast<void>(Allocator<double>().allocate(~std::size_t{0} / 4)), std::bad_array_new_length);
}

TEST(RegisteredMemoryDeathTest, IsGivenBackOnceAndWhole) {
  auto* const data = static_cast<std::byte*>(allocate(100 * KiB));
  EXPECT_DEATH(deallocate(data + 4096), "chorus::deallocate: 0x[0-9a-f]+ was not allocated");
  EXPECT_DEATH((deallocate(data), deallocate(data)),
               "was given back before; pass what chorus::allocate returned, and once");
  deallocate(data);
}

TEST(RegisteredMemory, IsNotTakenAwayByAChild) {
  std::vector<int, Allocator<int>> numbers(100'000, 3);
  const pid_t child = fork();
  if (child == 0) {
    const bool ordinary = !is_registered(allocate(100 * KiB), 1);
    deallocate(numbers.data());
    _exit(ordinary ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::ranges::count(numbers, 3), 100'000);
}

TEST(RegisteredMemory, IsForContainers) {
  std::vector<double, Allocator<double>> numbers(100'000, 1.5);
  EXPECT_TRUE(is_registered(numbers.data(), numbers.size() * sizeof(double)));
  const auto copy = numbers;
  numbers.resize(300'000, 2.5);
  EXPECT_EQ(numbers[99'999], 1.5);
  EXPECT_EQ(numbers[299'999], 2.5);
  EXPECT_NE(copy.data(), numbers.data());
  const auto moved = std::move(numbers);
  EXPECT_TRUE(Allocator<int>() == Allocator<double>());
  std::vector<std::string, Allocator<std::string>> few{"a few", "words"};
  EXPECT_FALSE(is_registered(few.data(), 1));
}

TEST(RegisteredMemory, IsForAllThreads) {
  const auto work = [](int thread) {
    std::vector<std::vector<int, Allocator<int>>> mine(8);
    for (int number = 0; number < 400; ++number) {
      auto& one = mine[static_cast<std::size_t>(number) % mine.size()];
      for (const int element : one) ASSERT_EQ(element, thread);
      one.assign(4096 + static_cast<std::size_t>(number * 37 % 9000), thread);
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
}

TEST(RegisteredMemory, IsDescribed) {
  EXPECT_THAT(describe_registered_memory(),
              testing::MatchesRegex("chorus::allocate: up to [0-9]+ GiB of registered memory a rank, huge pages .*"));
}

}  // namespace
}  // namespace chorus::test
