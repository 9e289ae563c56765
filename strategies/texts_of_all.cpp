// SPDX-License-Identifier: Apache-2.0
#include "texts_of_all.hpp"

#include <chorus/allgather.hpp>
#include <chorus/allgatherv.hpp>
#include <chorus/block_layout.hpp>
#include <chorus/communicator.hpp>

#include <cstddef>
#include <numeric>

namespace chorus::detail {

std::vector<std::string> texts_of_all(const Communicator& comm, const std::string& own,
                                      const CollectiveOptions& options) {
  std::vector<std::size_t> lengths(static_cast<std::size_t>(comm.size()));
  allgather(comm, own.size(), lengths, options);
  std::vector<char> text(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
  if (!text.empty()) allgatherv(comm, own, text, lengths, options);
  std::vector<std::string> all;
  auto next = text.begin();
  for (const std::size_t length : lengths) {
    const auto end = next + static_cast<std::ptrdiff_t>(length);
    all.emplace_back(next, end);
    next = end;
  }
  return all;
}

}  // namespace chorus::detail
