// SPDX-License-Identifier: Apache-2.0
#include "transport/smpi_transport.hpp"

#include "transport/mpi_error.hpp"
#include "transport/mpi_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace chorus {
namespace {

bool is_done(const Exchange::Tickets& tickets) noexcept {
  return request_of(tickets.send) == MPI_REQUEST_NULL && request_of(tickets.receive) == MPI_REQUEST_NULL;
}

}  // namespace

void SmpiMessages::add(Exchange& exchange) {
  if (std::ranges::find(awaited_, &exchange) == awaited_.end()) awaited_.push_back(&exchange);
}

void SmpiMessages::remove(const Exchange& exchange) noexcept {
  std::erase(awaited_, &exchange);
  std::erase_if(unexpected_, [&](const Unexpected& it) { return it.exchange == &exchange; });
}

void SmpiMessages::complete_one(bool block) {
  if (awaited_.empty()) return;
  requests_.clear();
  for (const Exchange* exchange : awaited_) {
    requests_.push_back(request_of(exchange->tickets.receive));
    requests_.push_back(request_of(exchange->tickets.send));
  }
  const auto count = static_cast<int>(requests_.size());
  int index = MPI_UNDEFINED;
  int done = 1;
  MPI_Status status;
  if (block) {
    check_mpi(MPI_Waitany(count, requests_.data(), &index, &status), "MPI_Waitany");
  } else {
    check_mpi(MPI_Testany(count, requests_.data(), &index, &done, &status), "MPI_Testany");
  }
  if (done == 0 || index == MPI_UNDEFINED) return;
  Exchange& exchange = *awaited_[static_cast<std::size_t>(index / 2)];
  if (index % 2 == 0) {
    exchange.tickets.receive = ticket_of(MPI_REQUEST_NULL);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const auto received = static_cast<std::size_t>(bytes);
    if (received != exchange.incoming_bytes()) unexpected_.push_back({&exchange, received});
  } else {
    exchange.tickets.send = ticket_of(MPI_REQUEST_NULL);
  }
  if (is_done(exchange.tickets)) std::erase(awaited_, &exchange);
}

bool SmpiMessages::is_unexpected(const Exchange& exchange, std::size_t& found) const noexcept {
  const auto it = std::ranges::find(unexpected_, &exchange, &Unexpected::exchange);
  if (it == unexpected_.end()) return false;
  found = it->bytes;
  return true;
}

SmpiTransport::SmpiTransport(int rank, std::shared_ptr<MpiChannel> channel, std::vector<int> ranks,
                             MpiChannel::Number number, SmpiMessages& messages)
    : MpiTransport(rank, std::move(channel), std::move(ranks), number), messages_(messages) {}

Exchange SmpiTransport::start(const Envelope& envelope) { return {*this, envelope, start_whole(envelope)}; }

bool SmpiTransport::test(Exchange& exchange) {
  std::size_t found = 0;
  if (messages_.is_unexpected(exchange, found)) {
    messages_.remove(exchange);
    report_length(exchange.source(), fmt::format("{}", found), exchange.incoming_bytes());
  }
  if (is_done(exchange.tickets)) return true;
  messages_.add(exchange);
  return false;
}

void SmpiTransport::cancel(Exchange& exchange) noexcept {
  messages_.remove(exchange);
  MpiTransport::cancel(exchange);
}

}  // namespace chorus
