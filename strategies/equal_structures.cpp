// SPDX-License-Identifier: Apache-2.0
#include "equal_structures.hpp"

#include <chorus/allgather.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace chorus::detail {

std::optional<std::size_t> worker_with_other_structure(const Communicator& workers, std::uint64_t mine,
                                                       std::chrono::nanoseconds timeout) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(workers.size()));
  allgather(workers, std::span(&mine, 1), all, {.timeout = timeout});
  const auto other = std::ranges::find_if(all, [&](std::uint64_t number) { return number != all.front(); });
  if (other == all.end()) return std::nullopt;
  return static_cast<std::size_t>(other - all.begin());
}

void reject_structure_of_worker(std::size_t worker, const char* function) {
  throw Error(ErrorCode::mismatch,
              fmt::format("{}: the structures of the replicas differ: those of worker 0 and of worker {}: give as many "
                          "elements and the same keys on every replica",
                          function, worker));
}

}  // namespace chorus::detail
