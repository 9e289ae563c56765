// SPDX-License-Identifier: Apache-2.0
#include "transport/segmented_exchange.hpp"

#include "base/machine.hpp"
#include "transport/mpi_error.hpp"
#include "transport/mpi_requests.hpp"

#include <algorithm>
#include <cstdint>

namespace chorus {
namespace {

/// The first segment of a message: its length tells that of the whole, so that who expects another one notices.
std::size_t first_length(std::size_t bytes) noexcept {
  constexpr std::size_t half = SegmentedExchange::longest_whole / 2;
  return half + static_cast<std::size_t>(bytes * 0x9E3779B97F4A7C15U >> 40U) % half;
}

// Messages of two segments of a pipeline start whole, so that the next one from the same rank may start before they
// end.
static_assert(2 * machine::longest_segment <=
              (SegmentedExchange::most_under_way - 1) * SegmentedExchange::longest_whole);

}  // namespace

std::size_t SegmentedExchange::Stream::next_length() const noexcept {
  return started == 0 ? first_length(message.bytes) : std::min(longest_whole, message.bytes - started);
}

SegmentedExchange::SegmentedExchange(MPI_Comm comm, int tag) noexcept : comm_(comm), tag_(tag) {}

SegmentedExchange::SegmentedExchange(MPI_Comm comm, int tag, const Message& out, const Message& in)
    : SegmentedExchange(comm, tag) {  // so that it is destroyed where a start throws
  out_.message = out;
  in_.message = in;
  while (in_.may_start()) start(in_, false);
  while (out_.may_start()) start(out_, true);
}

SegmentedExchange::~SegmentedExchange() {
  for (; in_.count > 0; --in_.count, in_.oldest = (in_.oldest + 1) % in_.under_way.size()) {
    cancel_receive(in_.under_way[in_.oldest]);
  }
  for (; out_.count > 0; --out_.count, out_.oldest = (out_.oldest + 1) % out_.under_way.size()) {
    MPI_Request_free(&out_.under_way[out_.oldest]);
  }
}

void SegmentedExchange::start(Stream& stream, bool out) {
  const std::size_t place = (stream.oldest + stream.count) % stream.under_way.size();
  const std::size_t length = stream.next_length();
  std::byte* const data = stream.message.data + stream.started;
  MPI_Request* const request = &stream.under_way[place];
  const auto count = static_cast<int>(length);
  if (out) {
    check_mpi(MPI_Isend(data, count, MPI_BYTE, stream.message.rank, tag_, comm_, request), "MPI_Isend");
  } else {
    check_mpi(MPI_Irecv(data, count, MPI_BYTE, stream.message.rank, tag_, comm_, request), "MPI_Irecv");
  }
  stream.lengths[place] = length;
  stream.started += length;
  ++stream.count;
}

bool SegmentedExchange::move(Stream& stream, bool out) {
  while (stream.count > 0) {
    int done = 0;
    MPI_Status status;
    const int code = MPI_Test(&stream.under_way[stream.oldest], &done, &status);
    if (code == MPI_SUCCESS && done == 0) return false;
    const std::size_t expected = stream.lengths[stream.oldest];
    stream.oldest = (stream.oldest + 1) % stream.under_way.size();
    --stream.count;
    int bytes = 0;
    if (!out && code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &bytes);
    unexpected_ = !out && (is_truncation(code) || (code == MPI_SUCCESS && static_cast<std::size_t>(bytes) != expected));
    if (unexpected_) return false;
    check_mpi(code, "MPI_Test");
    ++moved_;
    if (stream.may_start()) start(stream, out);
  }
  return stream.done();
}

bool SegmentedExchange::progress() {
  const bool received = move(in_, false);
  return move(out_, true) && received;
}

}  // namespace chorus
