// SPDX-License-Identifier: Apache-2.0
#include "transport/farewells.hpp"

namespace chorus {
namespace {

/// Also where that fails: there is nobody to be told.
bool is_sent(MPI_Request& request) {
  int sent = 0;
  return MPI_Test(&request, &sent, MPI_STATUS_IGNORE) != MPI_SUCCESS || sent != 0;
}

}  // namespace

void Farewells::send(ConstBytes message, std::span<const int> peers, int tag, MPI_Comm comm) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(under_way_, [](UnderWay& each) {
    std::erase_if(each.requests, is_sent);
    return each.requests.empty();
  });
  UnderWay& mine = under_way_.emplace_back(UnderWay{{message.begin(), message.end()}, {}});
  mine.requests.resize(peers.size(), MPI_REQUEST_NULL);
  for (std::size_t number = 0; number < peers.size(); ++number) {
    MPI_Isend(mine.message.data(), static_cast<int>(message.size()), MPI_BYTE, peers[number], tag, comm,
              &mine.requests[number]);
  }
}

void Farewells::leave() noexcept {
  const std::scoped_lock lock(mutex_);
  for (UnderWay& each : under_way_) {
    for (MPI_Request& request : each.requests) {
      if (!is_sent(request)) MPI_Request_free(&request);
    }
  }
}

}  // namespace chorus
