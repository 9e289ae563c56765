// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_transport.hpp"

#include "transport/mpi_error.hpp"
#include "transport/mpi_requests.hpp"

#include <algorithm>
#include <climits>
#include <exception>
#include <utility>

namespace chorus {
namespace {

constexpr int notice_channel = MpiChannel::notice_channel;

/// MPI's description of a message: bytes, or where these are too many for an int, one element of a type made for it.
class Extent {
 public:
  explicit Extent(std::size_t bytes) {
    if (bytes <= INT_MAX) {
      count_ = static_cast<int>(bytes);
      return;
    }
    constexpr std::size_t piece = std::size_t{1} << 30U;
    MPI_Datatype pieces = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_vector(static_cast<int>(bytes / piece), piece, piece, MPI_BYTE, &pieces), "MPI_Type_vector");
    int lengths[] = {1, static_cast<int>(bytes % piece)};
    MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes / piece * piece)};
    MPI_Datatype types[] = {pieces, MPI_BYTE};
    check_mpi(MPI_Type_create_struct(2, lengths, places, types, &type_), "MPI_Type_create_struct");
    MPI_Type_free(&pieces);
    MPI_Type_commit(&type_);
    count_ = 1;
  }
  Extent(const Extent&) = delete;
  Extent& operator=(const Extent&) = delete;
  ~Extent() {
    if (type_ != MPI_BYTE) MPI_Type_free(&type_);  // MPI keeps it while messages use it
  }
  [[nodiscard]] int count() const noexcept { return count_; }
  [[nodiscard]] MPI_Datatype type() const noexcept { return type_; }

 private:
  int count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
};

/// Tests a request; `done` once it is complete or has failed. Returns MPI's code.
int test_request(std::uint64_t& ticket, bool& done, MPI_Status* status) {
  MPI_Request request = request_of(ticket);
  int complete = 1;
  const int code = request == MPI_REQUEST_NULL ? MPI_SUCCESS : MPI_Test(&request, &complete, status);
  done = complete != 0 || code != MPI_SUCCESS;
  if (done) ticket = ticket_of(MPI_REQUEST_NULL);
  return code;
}

[[noreturn]] void report_other_length(int source, const std::string& found, std::size_t expected) {
  try {
    report_length(source, found, expected);
  } catch (const Error& error) {
    throw Error(error.code(), error.message() +
                                  "; keep the buffers of this call until MPI has ended, as messages may "
                                  "still come into them");
  }
}

Exchange::Tickets no_tickets() noexcept { return {ticket_of(MPI_REQUEST_NULL), ticket_of(MPI_REQUEST_NULL)}; }

}  // namespace

MpiTransport::MpiTransport(int rank, std::shared_ptr<MpiChannel> channel, std::vector<int> ranks,
                           MpiChannel::Number number)
    : Transport(rank, static_cast<int>(ranks.size())),
      channel_(std::move(channel)),
      ranks_(std::move(ranks)),
      number_(number) {}

MpiTransport::~MpiTransport() {
  if (whole_) channel_->release(number_);
}

SegmentedExchange::Message MpiTransport::to_cut(const std::byte* data, std::size_t bytes, int peer) const noexcept {
  if (peer == no_rank || bytes <= SegmentedExchange::longest_whole || nodes().empty()) return {};
  if (nodes()[static_cast<std::size_t>(peer)] == nodes()[static_cast<std::size_t>(rank())]) return {};
  return {const_cast<std::byte*>(data), bytes, ranks_[static_cast<std::size_t>(peer)]};
}

Exchange MpiTransport::start(const Envelope& envelope) {
  const MpiCaller::Call call(caller_);
  const auto out = to_cut(envelope.outgoing.data(), envelope.outgoing.size(), envelope.destination);
  const auto in = to_cut(envelope.incoming.data(), envelope.incoming.size(), envelope.source);
  if (out.bytes == 0 && in.bytes == 0) return {*this, envelope, start_whole(envelope)};
  Envelope whole = envelope;
  if (out.bytes > 0) whole.destination = no_rank;
  if (in.bytes > 0) whole.source = no_rank;
  Exchange::Tickets tickets = start_whole(whole);
  try {
    auto segments = std::make_unique<SegmentedExchange>(channel_->comm(), tag(envelope.channel), out, in);
    return {*this, envelope, tickets, segments.release()};
  } catch (...) {
    give_up(tickets);
    throw;
  }
}

Exchange::Tickets MpiTransport::start_whole(const Envelope& envelope) {
  Exchange::Tickets tickets = no_tickets();
  try {
    if (envelope.source != no_rank) tickets.receive = ticket_of(start_receive(envelope));
    if (envelope.destination != no_rank) tickets.send = ticket_of(start_send(envelope));
  } catch (...) {
    give_up(tickets);
    throw;
  }
  return tickets;
}

MPI_Request MpiTransport::start_receive(const Envelope& envelope) {
  MPI_Request request = MPI_REQUEST_NULL;
  const Extent extent(envelope.incoming.size());
  check_mpi(
      MPI_Irecv(envelope.incoming.data(), extent.count(), extent.type(),
                ranks_[static_cast<std::size_t>(envelope.source)], tag(envelope.channel), channel_->comm(), &request),
      "MPI_Irecv");
  return request;
}

MPI_Request MpiTransport::start_send(const Envelope& envelope) {
  MPI_Request request = MPI_REQUEST_NULL;
  const Extent extent(envelope.outgoing.size());
  check_mpi(MPI_Isend(envelope.outgoing.data(), extent.count(), extent.type(),
                      ranks_[static_cast<std::size_t>(envelope.destination)], tag(envelope.channel), channel_->comm(),
                      &request),
            "MPI_Isend");
  return request;
}

bool MpiTransport::test_segments(Exchange& exchange) {
  if (exchange.segments == nullptr) return true;
  std::unique_ptr<SegmentedExchange> segments(static_cast<SegmentedExchange*>(exchange.segments));
  exchange.segments = nullptr;  // where it throws it is given up
  const std::uint64_t moved_before = segments->moved();
  const bool done = segments->progress();
  count_segments(segments->moved() - moved_before);
  if (segments->is_unexpected()) {
    segments.reset();
    report_other_length(exchange.source(), "other", exchange.incoming_bytes());
  }
  if (!done) exchange.segments = segments.release();
  return done;
}

bool MpiTransport::test(Exchange& exchange) {
  const MpiCaller::Call call(caller_);
  bool done = true;
  const bool segments_done = test_segments(exchange);
  if (request_of(exchange.tickets.receive) != MPI_REQUEST_NULL) {
    MPI_Status status;
    const int code = test_request(exchange.tickets.receive, done, &status);
    if (is_truncation(code)) report_other_length(exchange.source(), "more", exchange.incoming_bytes());
    check_mpi(code, "MPI_Test");
    if (!done) return false;
    MPI_Count received = 0;
    MPI_Get_elements_x(&status, MPI_BYTE, &received);
    if (static_cast<std::size_t>(received) != exchange.incoming_bytes()) {
      report_other_length(exchange.source(), fmt::format("{}", received), exchange.incoming_bytes());
    }
  }
  check_mpi(test_request(exchange.tickets.send, done, MPI_STATUS_IGNORE), "MPI_Test");
  return done && segments_done;
}

void MpiTransport::cancel(Exchange& exchange) noexcept {
  const MpiCaller::Call call(caller_);
  delete static_cast<SegmentedExchange*>(std::exchange(exchange.segments, nullptr));
  give_up(exchange.tickets);
}

void MpiTransport::give_up(Exchange::Tickets& tickets) noexcept {
  retire();
  leave_under_way();
  if (MPI_Request receive = request_of(tickets.receive); receive != MPI_REQUEST_NULL) cancel_receive(receive);
  if (MPI_Request send = request_of(tickets.send); send != MPI_REQUEST_NULL) MPI_Request_free(&send);
  tickets = no_tickets();
}

void MpiTransport::notify(ConstBytes message, std::span<const int> peers) noexcept {
  retire();
  try {
    say_farewell(message, peers);
  } catch (const std::exception&) {  // who is not told waits as long as it may
  }
}

void MpiTransport::say_farewell(ConstBytes message, std::span<const int> peers) {
  const MpiCaller::Call call(caller_);
  std::vector<int> on_channel;
  for (const int peer : peers) on_channel.push_back(ranks_[static_cast<std::size_t>(peer)]);
  runtime_of_this_rank().farewells().send(message, on_channel, tag(notice_channel), channel_->comm());
}

void MpiTransport::await_farewell(int peer) {
  if (!std::exchange(whole_, false)) return;
  channel_->release_after_farewell(number_, ranks_[static_cast<std::size_t>(peer)]);
}

void MpiTransport::advance() {
  const MpiCaller::Call call(advancing_);
  int there = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag(notice_channel), channel_->comm(), &there, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

bool MpiTransport::notified(Bytes message) {
  const MpiCaller::Call call(caller_);
  for (;;) {
    int there = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag(notice_channel), channel_->comm(), &there, &status), "MPI_Iprobe");
    if (there == 0) return false;
    check_mpi(MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_BYTE, status.MPI_SOURCE,
                       tag(notice_channel), channel_->comm(), MPI_STATUS_IGNORE),
              "MPI_Recv");
    // Others have had the tags before, and may have asked late who is there.
    if (std::ranges::find(ranks_, status.MPI_SOURCE) != ranks_.end()) return true;
  }
}

}  // namespace chorus
