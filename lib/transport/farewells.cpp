// SPDX-License-Identifier: Apache-2.0
#include "transport/farewells.hpp"

#include <algorithm>

namespace chorus {
namespace {

/// Also where that fails: there is nobody to be told.
bool is_sent(MPI_Request& request) {
  int sent = 0;
  return MPI_Test(&request, &sent, MPI_STATUS_IGNORE) != MPI_SUCCESS || sent != 0;
}

}  // namespace

void Farewells::send(ConstBytes message, int peer, int tag, MPI_Comm comm) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(under_way_, [](UnderWay& each) { return is_sent(each.request); });
  UnderWay& mine = under_way_.emplace_back();
  const std::size_t bytes = std::min(message.size(), most_bytes);
  std::ranges::copy(message.first(bytes), mine.message.begin());
  MPI_Isend(mine.message.data(), static_cast<int>(bytes), MPI_BYTE, peer, tag, comm, &mine.request);
}

void Farewells::leave() noexcept {
  const std::scoped_lock lock(mutex_);
  for (UnderWay& each : under_way_) {
    if (!is_sent(each.request)) MPI_Request_free(&each.request);
  }
}

}  // namespace chorus
