// SPDX-License-Identifier: Apache-2.0
// What a transport leaves behind: messages that cannot be started, and such as nobody waits for.

#include "mpi/job.hpp"
#include "transport/mpi_transport.hpp"

#include <chorus/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace chorus::test {
namespace {

constexpr int nobody = 999;  // no rank of any channel here
constexpr auto mark = std::byte{7};
constexpr std::size_t a_segment = SegmentedExchange::longest_whole;

bool all_are(const std::vector<std::byte>& bytes, std::byte value) {
  return std::ranges::count(bytes, value) == static_cast<std::ptrdiff_t>(bytes.size());
}

/// A transport of this rank alone and one that is not there, on different nodes.
class FailedStart : public testing::Test {
 protected:
  FailedStart() : transport_(0, channel_, {0, nobody}, 0) { transport_.compose({0, 1}, nullptr, nullptr); }

  /// A message with tag 0 goes to whoever waits for it, and not into `given_up`.
  void expect_not_awaited(const std::vector<std::byte>& given_up) const {
    const std::vector<std::byte> message(10, mark);
    std::vector<std::byte> here(message.size());
    MPI_Sendrecv(message.data(), 10, MPI_BYTE, 0, 0, here.data(), 10, MPI_BYTE, 0, 0, channel_->comm(),
                 MPI_STATUS_IGNORE);
    EXPECT_TRUE(all_are(here, mark));
    EXPECT_TRUE(all_are(given_up, std::byte{0}));
  }

  std::shared_ptr<MpiChannel> channel_ = std::make_shared<MpiChannel>(MPI_COMM_SELF, MpiChannel::Name());
  MpiTransport transport_;
  std::vector<std::byte> out_ = std::vector<std::byte>(4 * a_segment);
  std::vector<std::byte> in_ = std::vector<std::byte>(4 * a_segment);
};

TEST_F(FailedStart, OfASendTakesTheReceiveBack) {
  EXPECT_THROW(static_cast<void>(transport_.sendrecv(ConstBytes(out_).first(10), 1, Bytes(in_).first(10), 0)), Error);
  expect_not_awaited(in_);
}

TEST_F(FailedStart, OfASendInSegmentsTakesTheReceiveBack) {
  EXPECT_THROW(static_cast<void>(transport_.sendrecv(out_, 1, Bytes(in_).first(10), 0)), Error);
  expect_not_awaited(in_);
}

TEST_F(FailedStart, OfASendInSegmentsTakesTheSegmentsBack) {
  EXPECT_THROW(SegmentedExchange(channel_->comm(), 0, {out_.data(), out_.size(), nobody}, {in_.data(), in_.size(), 0}),
               Error);
  expect_not_awaited(in_);
}

/// So long that MPI does not send it at once.
TEST(Notices, OutliveTheirTransport) {
  constexpr std::size_t bytes = std::size_t{8} << 20U;
  const auto channel = std::make_shared<MpiChannel>(MPI_COMM_WORLD, MpiChannel::Name());
  std::vector<int> ranks;
  for (int rank = 0; rank < job_size(); ++rank) ranks.push_back(rank);
  auto transport = std::make_unique<MpiTransport>(job_rank(), channel, ranks, 0);
  if (job_rank() == 0) {
    transport->notify(std::vector<std::byte>(bytes, mark), std::array{1});
    transport.reset();
  }
  std::vector<std::byte> got(bytes);
  if (job_rank() == 1) {
    while (!transport->notified(got)) {
    }
    EXPECT_TRUE(all_are(got, mark));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// A transport that had the same tags before was of the ranks 1 and 2.
TEST(Notices, OfOtherRanksAreDropped) {
  const auto channel = std::make_shared<MpiChannel>(MPI_COMM_WORLD, MpiChannel::Name());
  const auto notify = [&](int from, std::byte value) {
    if (job_rank() != from) return;
    MpiTransport transport(0, channel, {from, 1}, 0);
    transport.notify(std::vector<std::byte>(10, value), std::array{1});
  };
  notify(2, std::byte{1});
  meet_job();
  notify(0, mark);
  if (job_rank() == 1) {
    MpiTransport transport(1, channel, {0, 1}, 0);
    transport.retire();
    std::vector<std::byte> got(10);
    while (!transport.notified(got)) {
    }
    EXPECT_TRUE(all_are(got, mark));
  }
  meet_job();
}

}  // namespace
}  // namespace chorus::test
