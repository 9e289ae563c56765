// SPDX-License-Identifier: Apache-2.0
// More elements than an int counts, and more bytes than 32 bits do, which is skipped where the machine has too little
// memory; and few of them, farther apart than an int reaches.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

constexpr std::size_t just_above = (std::size_t{1} << 31U) + 1;

/// The machine's memory that is free, in bytes.
std::size_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word && word != "MemAvailable:") {
  }
  std::size_t kib = 0;
  file >> kib;
  return kib * 1024;
}

/// True on every rank where a buffer of `bytes` for each of them, and a quarter more, fits into every one's machine.
bool fits(const Communicator& world, std::size_t bytes) {
  const std::size_t wanted = static_cast<std::size_t>(world.size()) * bytes / 4 * 5;
  return allreduce(world, available_bytes() >= wanted, ReduceOp::logical_and);
}

/// Elements that are zero, on pages that take memory once they are touched.
template <class T>
class LargeBuffer {
 public:
  explicit LargeBuffer(std::size_t count) : bytes_(count * sizeof(T)) {
    void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    madvise(data, bytes_, MADV_HUGEPAGE);
    elements_ = {static_cast<T*>(data), count};
  }
  LargeBuffer(const LargeBuffer&) = delete;
  LargeBuffer& operator=(const LargeBuffer&) = delete;
  ~LargeBuffer() { munmap(elements_.data(), bytes_); }
  [[nodiscard]] std::span<T> elements() const noexcept { return elements_; }

 private:
  std::size_t bytes_;
  std::span<T> elements_;
};

/// Calls `visit` with the index of both ends of `data`, of what lies around the limits of 31 and 32 bits (in elements
/// and in bytes), and of a sample between.
template <class T, class Visit>
void for_each_sample(std::span<T> data, const Visit& visit) {
  const std::size_t limits[] = {2, just_above - 1, just_above / sizeof(T), 2 * just_above / sizeof(T), data.size()};
  for (const std::size_t limit : limits) {
    for (std::size_t index = limit - 2; index < std::min(limit + 3, data.size()); ++index) visit(index);
  }
  constexpr std::size_t stride = 9'999'991;  // a prime: no multiple of a page, a segment or a slot
  for (std::size_t index = 0; index < data.size(); index += stride) visit(index);
}

/// What stands at `index` of rank `rank`'s data: small, and different at a distance of 2^31 and 2^32.
int value_at(std::size_t index, int rank) { return static_cast<int>(index % 61) + rank; }

TEST(LargeCounts, AreBroadcast) {
  const Communicator world = Communicator::world();
  using Pair = std::array<std::uint8_t, 2>;  // 2^31 + 1 of them are more than 2^32 bytes
  if (!fits(world, just_above * sizeof(Pair))) GTEST_SKIP() << "too little memory";
  const LargeBuffer<Pair> buffer(just_above);
  const std::span<Pair> data = buffer.elements();
  const int root = world.size() - 1;
  const auto pair_at = [](std::size_t index) {
    const int value = value_at(index, 7);
    return Pair{static_cast<std::uint8_t>(value), static_cast<std::uint8_t>(value + 100)};
  };
  if (world.rank() == root) for_each_sample(data, [&](std::size_t index) { data[index] = pair_at(index); });
  bcast(world, data, root);
  for_each_sample(data, [&](std::size_t index) { ASSERT_EQ(data[index], pair_at(index)) << "at " << index; });
}

TEST(LargeCounts, AreReduced) {
  const Communicator world = Communicator::world();
  if (!fits(world, just_above)) GTEST_SKIP() << "too little memory";
  const LargeBuffer<char> buffer(just_above);
  const std::span<char> data = buffer.elements();
  for_each_sample(data, [&](std::size_t index) { data[index] = static_cast<char>(value_at(index, world.rank())); });
  allreduce(world, data, ReduceOp::max);
  const int last = world.size() - 1;
  for_each_sample(data, [&](std::size_t index) { ASSERT_EQ(data[index], value_at(index, last)) << "at " << index; });
}

TEST(LargeCounts, AreGathered) {
  const Communicator world = Communicator::world();
  const auto ranks = static_cast<std::size_t>(world.size());
  const std::size_t block = just_above / ranks + 1;
  if (!fits(world, ranks * block)) GTEST_SKIP() << "too little memory";
  const LargeBuffer<char> buffer(ranks * block);
  const std::span<char> data = buffer.elements();
  const std::span<char> own = data.subspan(static_cast<std::size_t>(world.rank()) * block, block);
  for_each_sample(own, [&](std::size_t index) { own[index] = static_cast<char>(value_at(index, world.rank())); });
  allgather(world, data);
  for (int rank = 0; rank < world.size(); ++rank) {
    const std::span<char> part = data.subspan(static_cast<std::size_t>(rank) * block, block);
    for_each_sample(part, [&](std::size_t index) { ASSERT_EQ(part[index], value_at(index, rank)) << "at " << index; });
  }
}

/// Blocks of three elements, that of rank 0 behind all that an int reaches and the others at the beginning.
class FarBlocks : public testing::Test {
 protected:
  [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(world_.rank()); }
  [[nodiscard]] BlockLayout far() const { return {counts_, displacements_}; }
  [[nodiscard]] std::span<char> far_block(std::size_t rank) const {
    return buffer_.elements().subspan(displacements_[rank], block);
  }
  static char value(std::size_t from, std::size_t to) { return static_cast<char>(1 + 5 * from + to); }
  static void fill(std::span<char> elements, std::size_t from, std::size_t to) {
    std::ranges::fill(elements, value(from, to));
  }
  static void check(std::span<const char> elements, std::size_t from, std::size_t to) {
    for (const char element : elements) EXPECT_EQ(element, value(from, to)) << "from " << from << " to " << to;
  }

  static constexpr std::size_t block = 3;
  const Communicator world_ = Communicator::world();
  const std::size_t ranks_ = static_cast<std::size_t>(world_.size());
  const std::vector<std::size_t> counts_ = std::vector<std::size_t>(ranks_, block);
  const std::vector<std::size_t> displacements_ = [this] {
    std::vector<std::size_t> begins;
    for (std::size_t rank = 0; rank < ranks_; ++rank) begins.push_back(rank == 0 ? just_above : rank * block);
    return begins;
  }();
  const LargeBuffer<char> buffer_ = LargeBuffer<char>(just_above + block);
  std::vector<char> near_ = std::vector<char>(ranks_ * block);
};

TEST_F(FarBlocks, AreGathered) {
  const std::span<char> mine = std::span(near_).first(block);
  fill(mine, me(), 0);
  gatherv(world_, mine, buffer_.elements(), far(), 0);
  for (std::size_t rank = 0; rank < ranks_ && me() == 0; ++rank) check(far_block(rank), rank, 0);
}

TEST_F(FarBlocks, AreScattered) {
  const std::span<char> mine = std::span(near_).first(block);
  for (std::size_t rank = 0; rank < ranks_ && me() == 0; ++rank) fill(far_block(rank), 0, rank);
  scatterv(world_, buffer_.elements(), far(), mine, 0);
  check(mine, 0, me());
}

TEST_F(FarBlocks, AreExchanged) {
  for (std::size_t rank = 0; rank < ranks_; ++rank) fill(std::span(near_).subspan(rank * block, block), me(), rank);
  alltoallv(world_, near_, counts_, buffer_.elements(), far());
  for (std::size_t rank = 0; rank < ranks_; ++rank) check(far_block(rank), rank, me());
}

TEST_F(FarBlocks, AreGatheredEverywhere) {
  for (const char* const algorithm : {"", "native"}) {
    const CollectiveOptions options = {.algorithm = algorithm};
    const std::span<char> mine = std::span(near_).first(block);
    fill(mine, me(), 1);
    // The first rank alone has them far apart.
    if (me() == 0) {
      allgatherv(world_, mine, buffer_.elements(), far(), options);
      for (std::size_t rank = 0; rank < ranks_; ++rank) check(far_block(rank), rank, 1);
      fill(far_block(0), 0, 2);
      allgatherv(world_, buffer_.elements(), far(), options);
      for (std::size_t rank = 0; rank < ranks_; ++rank) check(far_block(rank), rank, 2);
    } else {
      const std::vector<char> in(mine.begin(), mine.end());
      allgatherv(world_, in, near_, counts_, options);
      for (std::size_t rank = 0; rank < ranks_; ++rank) check(std::span(near_).subspan(rank * block, block), rank, 1);
      fill(std::span(near_).subspan(me() * block, block), me(), 2);
      allgatherv(world_, near_, counts_, options);
    }
  }
}

TEST_F(FarBlocks, AreGatheredEverywhereByARequest) {
  const std::span<char> mine = std::span(near_).first(block);
  fill(mine, me(), 3);
  iallgatherv(world_, mine, buffer_.elements(), far(), {.algorithm = "native"}).wait();
  for (std::size_t rank = 0; rank < ranks_; ++rank) check(far_block(rank), rank, 3);
}

}  // namespace
}  // namespace chorus::test
