// SPDX-License-Identifier: Apache-2.0
// Memory that other processes cannot reach, though they can the rest: chorus finds out and copies another way.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

/// Elements on pages that the system shows to nobody else (memfd_secret); empty where it has none such.
class SecretBuffer {
 public:
  explicit SecretBuffer(std::size_t count) : bytes_(count * sizeof(int)) {
#ifdef SYS_memfd_secret
    const auto descriptor = static_cast<int>(syscall(SYS_memfd_secret, 0));
#else
    const int descriptor = -1;
#endif
    if (descriptor < 0) return;
    void* data = MAP_FAILED;
    if (ftruncate(descriptor, static_cast<off_t>(bytes_)) == 0) {
      data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    }
    close(descriptor);
    if (data != MAP_FAILED) elements_ = {static_cast<int*>(data), count};
  }
  SecretBuffer(const SecretBuffer&) = delete;
  SecretBuffer& operator=(const SecretBuffer&) = delete;
  ~SecretBuffer() {
    if (!elements_.empty()) munmap(elements_.data(), bytes_);
  }
  [[nodiscard]] std::span<int> elements() const noexcept { return elements_; }

 private:
  std::size_t bytes_;
  std::span<int> elements_;
};

class SingleCopy : public testing::Test {
 protected:
  static constexpr std::size_t count = 150'000;  // of a block
  const Communicator world_ = Communicator::world();
  const std::size_t ranks_ = static_cast<std::size_t>(world_.size());
  const std::size_t me_ = static_cast<std::size_t>(world_.rank());
  const CollectiveOptions options_{.algorithm = "single_copy"};
  const CollectiveOptions shared_{.algorithm = "shared"};
  const std::vector<std::size_t> counts_{std::vector<std::size_t>(ranks_, count)};
  const SecretBuffer secret_{count * ranks_};

  void SetUp() override {
    if (!allreduce(world_, !secret_.elements().empty(), ReduceOp::logical_and)) GTEST_SKIP() << "no secret memory here";
  }
  /// Element `index` of the block from `giver` to `taker`.
  static int element(std::size_t giver, std::size_t taker, std::size_t index) {
    return static_cast<int>(giver * 10'000'000 + taker * 1'000'000 + index);
  }
  /// Blocks of this rank for `takers` ranks, in memory that nobody else can read.
  std::span<int> blocks_for(std::size_t takers) const {
    const std::span<int> all = secret_.elements().first(takers * count);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = element(me_, i / count, i % count);
    return all;
  }
  static void expect(std::span<const int> block, std::size_t giver, std::size_t taker) {
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(block[i], element(giver, taker, i)) << "of rank " << giver;
  }
  /// That of every rank's block for rank 0.
  void expect_sum(std::span<const int> sum) const {
    for (std::size_t i = 0; i < count; ++i) {
      int expected = 0;
      for (std::size_t giver = 0; giver < ranks_; ++giver) expected += element(giver, 0, i);
      ASSERT_EQ(sum[i], expected) << "at " << i;
    }
  }
};

TEST_F(SingleCopy, IsNotNeededByBcast) {
  std::vector<int> copy(count);
  const std::span<int> data = me_ == 0 ? blocks_for(1) : std::span<int>(copy);
  bcast(world_, data, 0, options_);
  expect(data, 0, 0);
}

TEST_F(SingleCopy, IsNotNeededByAllgather) {
  std::vector<int> all(ranks_ * count);
  allgather(world_, std::span<const int>(blocks_for(1)), all, options_);
  for (std::size_t giver = 0; giver < ranks_; ++giver) expect(std::span(all).subspan(giver * count), giver, 0);
}

TEST_F(SingleCopy, IsNotNeededByAlltoall) {
  std::vector<int> all(ranks_ * count);
  alltoall(world_, std::span<const int>(blocks_for(ranks_)), all, options_);
  for (std::size_t giver = 0; giver < ranks_; ++giver) expect(std::span(all).subspan(giver * count), giver, me_);
}

TEST_F(SingleCopy, IsNotNeededByAlltoallInPlace) {
  const std::span<int> all = blocks_for(ranks_);
  alltoall(world_, all, options_);
  for (std::size_t giver = 0; giver < ranks_; ++giver) expect(all.subspan(giver * count), giver, me_);
}

TEST_F(SingleCopy, IsNotNeededByGather) {
  std::vector<int> all(me_ == 1 ? ranks_ * count : 0);
  gather(world_, std::span<const int>(blocks_for(1)), all, 1, options_);
  for (std::size_t giver = 0; giver < ranks_ && me_ == 1; ++giver) {
    expect(std::span(all).subspan(giver * count), giver, 0);
  }
}

TEST_F(SingleCopy, IsNotNeededByScatter) {
  std::vector<int> mine(count);
  const std::span<const int> all = me_ == 1 ? blocks_for(ranks_) : std::span<int>();
  scatter(world_, all, mine, 1, options_);
  expect(mine, 1, me_);
}

TEST_F(SingleCopy, IsNotNeededIntoTheResultsOfBcast) {
  const std::span<int> data = secret_.elements().first(count);
  for (std::size_t i = 0; i < count && me_ == 1; ++i) data[i] = element(1, 0, i);
  bcast(world_, data, 1, options_);
  expect(data, 1, 0);
}

TEST_F(SingleCopy, IsNotNeededIntoTheResultOfGather) {
  std::vector<int> mine(count);
  for (std::size_t i = 0; i < count; ++i) mine[i] = element(me_, 0, i);
  const std::span<int> all = me_ == 1 ? secret_.elements() : std::span<int>();
  gather(world_, std::span<const int>(mine), all, 1, options_);
  for (std::size_t giver = 0; giver < ranks_ && me_ == 1; ++giver) expect(all.subspan(giver * count), giver, 0);
}

TEST_F(SingleCopy, IsNotNeededIntoTheResultsOfScatter) {
  std::vector<int> all(ranks_ * count);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = element(1, i / count, i % count);
  const std::span<int> mine = secret_.elements().first(count);
  scatter(world_, me_ == 1 ? std::span<const int>(all) : std::span<const int>(), mine, 1, options_);
  expect(mine, 1, me_);
}

TEST_F(SingleCopy, IsNotNeededByScansOfTwoRanks) {
  const Communicator two = world_.split(me_ < 2 ? 0 : 1).value();
  if (two.size() != 2) return;
  std::vector<int> mine(blocks_for(1).begin(), blocks_for(1).end());
  std::vector<int> sum(count);
  exscan(two, std::span<const int>(blocks_for(1)), sum, ReduceOp::sum, options_);
  if (me_ == 1) expect(sum, 0, 0);
  scan(two, std::span<const int>(blocks_for(1)), sum, ReduceOp::sum, options_);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(sum[i], element(0, 0, i) * (me_ == 1 ? 1 : 0) + element(me_, 0, i));
  }
  exscan(two, std::span<const int>(mine), secret_.elements().first(count), ReduceOp::sum, options_);
  if (me_ == 1) expect(secret_.elements(), 0, 0);
}

/// Each rank reduces a piece: some ranks can, others cannot.
TEST_F(SingleCopy, IsNotNeededByReductions) {
  const std::span<int> secret = blocks_for(1);
  const std::vector<int> open(secret.begin(), secret.end());
  const std::span<const int> in = me_ == 1 ? secret : std::span<const int>(open);
  std::vector<int> sum(count);
  allreduce(world_, in, sum, ReduceOp::sum, options_);
  expect_sum(sum);
  std::vector<int> at_root(me_ == 0 ? count : 0);
  reduce(world_, in, at_root, ReduceOp::sum, 0, options_);
  if (me_ == 0) expect_sum(at_root);
  const std::size_t share = count / ranks_;
  std::vector<int> block(share);
  reduce_scatter_block(world_, in.first(share * ranks_), block, ReduceOp::sum, options_);
  std::vector<int> blocks(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(share * ranks_));
  reduce_scatter_block(world_, std::span(blocks), ReduceOp::sum, options_);
  const std::size_t first = me_ * share;
  for (std::size_t i = 0; i < share; ++i) {
    ASSERT_EQ(block[i], sum[first + i]) << "at " << i;
    ASSERT_EQ(blocks[i], sum[first + i]) << "in place, at " << i;
  }
}

/// What has been reduced in place is no input any more, when it cannot be given to another rank.
TEST_F(SingleCopy, IsNotNeededIntoTheResultsOfReductions) {
  const std::span<int> secret = secret_.elements().first(count);
  std::vector<int> mine(count);
  const auto fill = [&] {
    for (std::size_t i = 0; i < count; ++i) mine[i] = element(me_, 0, i);
  };
  fill();
  if (me_ == 1) {
    allreduce(world_, std::span<const int>(mine), secret, ReduceOp::sum, options_);
    expect_sum(secret);
  } else {
    allreduce(world_, std::span(mine), ReduceOp::sum, options_);
    expect_sum(mine);
  }
  fill();
  reduce(world_, std::span<const int>(mine), me_ == 1 ? secret : std::span<int>(), ReduceOp::sum, 1, options_);
  if (me_ == 1) expect_sum(secret);
}

/// A page that its process writes when it has been told of it, as where changes are tracked: the system writes up to
/// it.
class TrackedBuffer {
 public:
  explicit TrackedBuffer(std::size_t count)
      : bytes_(count * sizeof(int)),
        page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        data_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* fault, void*) {
      const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
      const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(fault->si_addr) / page * page;
      if (mprotect(reinterpret_cast<void*>(begin), page, PROT_READ | PROT_WRITE) != 0) std::abort();
    };
    sigaction(SIGSEGV, &action, &before_);
  }
  TrackedBuffer(const TrackedBuffer&) = delete;
  TrackedBuffer& operator=(const TrackedBuffer&) = delete;
  ~TrackedBuffer() {
    sigaction(SIGSEGV, &before_, nullptr);
    munmap(data_, bytes_);
  }
  [[nodiscard]] std::span<int> elements() const noexcept { return {static_cast<int*>(data_), bytes_ / sizeof(int)}; }
  /// From here on every second page is told of.
  void track() const {
    for (std::size_t begin = page_; begin + page_ <= bytes_; begin += 2 * page_) {
      mprotect(static_cast<std::byte*>(data_) + begin, page_, PROT_READ);
    }
  }

 private:
  std::size_t bytes_;
  std::size_t page_;
  void* data_;
  struct sigaction before_ = {};
};

TEST_F(SingleCopy, LosesNoInputThatIsHalfWritten) {
  const TrackedBuffer buffer(count);
  const std::span<int> data = buffer.elements();
  for (const bool to_all : {false, true}) {
    for (std::size_t i = 0; i < count; ++i) data[i] = element(me_, 0, i);
    buffer.track();
    if (to_all) allreduce(world_, data, ReduceOp::sum, options_);
    if (!to_all) reduce(world_, data, ReduceOp::sum, 1, options_);
    if (to_all || me_ == 1) expect_sum(data);
  }
}

TEST_F(SingleCopy, IsNotNeededByReductionsInPlace) {
  const std::span<int> data = blocks_for(1);
  allreduce(world_, data, ReduceOp::sum, options_);
  expect_sum(data);
  reduce(world_, blocks_for(1), ReduceOp::sum, 1, options_);
  if (me_ == 1) expect_sum(data);
}

/// Of those whose blocks differ in length, `shared` copies so what does not fit into a slot.
TEST_F(SingleCopy, IsNotNeededByAllgatherv) {
  std::vector<int> all(ranks_ * count);
  allgatherv(world_, std::span<const int>(blocks_for(1)), all, counts_, shared_);
  for (std::size_t giver = 0; giver < ranks_; ++giver) expect(std::span(all).subspan(giver * count), giver, 0);
}

TEST_F(SingleCopy, IsNotNeededByAlltoallv) {
  std::vector<int> all(ranks_ * count);
  alltoallv(world_, std::span<const int>(blocks_for(ranks_)), counts_, all, counts_, shared_);
  for (std::size_t giver = 0; giver < ranks_; ++giver) expect(std::span(all).subspan(giver * count), giver, me_);
}

TEST_F(SingleCopy, IsNotNeededByAlltoallvInPlace) {
  const std::span<int> all = blocks_for(ranks_);
  alltoallv(world_, all, counts_, shared_);
  for (std::size_t giver = 0; giver < ranks_; ++giver) expect(all.subspan(giver * count), giver, me_);
}

TEST_F(SingleCopy, IsNotNeededByGatherv) {
  std::vector<int> all(me_ == 1 ? ranks_ * count : 0);
  gatherv(world_, std::span<const int>(blocks_for(1)), all, counts_, 1, shared_);
  for (std::size_t giver = 0; giver < ranks_ && me_ == 1; ++giver) {
    expect(std::span(all).subspan(giver * count), giver, 0);
  }
}

TEST_F(SingleCopy, IsNotNeededIntoTheResultOfGatherv) {
  std::vector<int> mine(count);
  for (std::size_t i = 0; i < count; ++i) mine[i] = element(me_, 0, i);
  const std::span<int> all = me_ == 1 ? secret_.elements() : std::span<int>();
  gatherv(world_, std::span<const int>(mine), all, counts_, 1, shared_);
  for (std::size_t giver = 0; giver < ranks_ && me_ == 1; ++giver) expect(all.subspan(giver * count), giver, 0);
}

TEST_F(SingleCopy, IsNotNeededByScatterv) {
  std::vector<int> mine(count);
  const std::span<const int> all = me_ == 1 ? blocks_for(ranks_) : std::span<int>();
  scatterv(world_, all, counts_, mine, 1, shared_);
  expect(mine, 1, me_);
}

/// Some of the blocks that a rank gets can be read, and others cannot.
TEST_F(SingleCopy, IsNotNeededBySomeGivers) {
  const std::span<int> secret = blocks_for(ranks_);
  const std::vector<int> open(secret.begin(), secret.end());
  std::vector<int> all(ranks_ * count);
  alltoallv(world_, me_ == 1 ? secret : std::span<const int>(open), counts_, all, counts_, shared_);
  for (std::size_t giver = 0; giver < ranks_; ++giver) expect(std::span(all).subspan(giver * count), giver, me_);
}

/// What can be read is read afterwards as before.
TEST_F(SingleCopy, IsTriedAgain) {
  std::vector<int> data(count, static_cast<int>(me_));
  bcast(world_, me_ == 0 ? blocks_for(1) : std::span<int>(data), 0, options_);
  bcast(world_, std::span<int>(data), 1, options_);
  expect(data, 0, 0);
}

}  // namespace
}  // namespace chorus::test
