// SPDX-License-Identifier: Apache-2.0
#include "exchanges.hpp"

#include "task/when_all.hpp"

namespace chorus {
namespace {

Task<> exchange(Transport& transport, const Envelope& envelope) {
  if (envelope.destination == no_rank && envelope.source == no_rank) co_return;
  co_await transport.start(envelope);
}

}  // namespace

Task<> three_at_once(Transport& transport, std::array<Envelope, 3> exchanges) {
  Task<> tasks[] = {exchange(transport, exchanges[0]), exchange(transport, exchanges[1]),
                    exchange(transport, exchanges[2])};
  co_await when_all(tasks);
}

}  // namespace chorus
