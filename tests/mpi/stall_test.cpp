// SPDX-License-Identifier: Apache-2.0
// A long message between nodes that goes on slowly: it moves before it is done, so nobody warns of a stall.

#include "mpi/job.hpp"
#include "mpi/waiting.hpp"
#include "transport/communicator_state.hpp"
#include "transport/mpi_transport.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace chorus::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t segments = 40;
constexpr std::size_t bytes = segments * SegmentedExchange::longest_whole;

Task<> send_to_rank_1(Transport& transport, ConstBytes message) { co_await transport.send(message, 1); }

/// Takes what rank 0 sends as MPI brings it, one segment after another.
void receive_slowly(const MpiTransport& transport) {
  const MPI_Comm comm = transport.channel()->comm();
  const int source = transport.ranks().front();
  const int tag = transport.number() * MpiChannel::tags_each + Channel::all;
  std::vector<std::byte> segment(SegmentedExchange::longest_whole);
  for (std::size_t come = 0; come < bytes;) {
    std::this_thread::sleep_for(40ms);
    MPI_Status status;
    MPI_Recv(segment.data(), static_cast<int>(segment.size()), MPI_BYTE, source, tag, comm, &status);
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    ASSERT_GT(length, 0);
    come += static_cast<std::size_t>(length);
  }
}

TEST(StallOfALongMessage, IsNoneWhereItsSegmentsMove) {
  const ScopedVariable nodes("CHORUS_NODE_RANKS", "1");
  const ScopedVariable warning("CHORUS_STALL_WARNING", "0.8");
  const Communicator comm = from_mpi(lasting_comm());
  barrier(comm);
  auto& transport = dynamic_cast<MpiTransport&>(comm.state().transport());
  if (comm.rank() == 1) receive_slowly(transport);
  if (comm.rank() == 0) {
    const std::vector<std::byte> message(bytes);
    testing::internal::CaptureStderr();
    const Outcome outcome = outcome_of([&] { comm.state().drive(send_to_rank_1(transport, message)); });
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_FALSE(outcome.code) << outcome.text;
  }
  meet_job();
}

}  // namespace
}  // namespace chorus::test
