// SPDX-License-Identifier: Apache-2.0
#include "device/sections_of.hpp"

#include <utility>

namespace chorus {

ExchangedSections sections_of(const Call& call, const Native::Buffers& buffers, int rank, int ranks) {
  if (!buffers.in_sections.empty()) {
    return {{buffers.in_sections.begin(), buffers.in_sections.end()},
            {buffers.out_sections.begin(), buffers.out_sections.end()}};
  }
  const std::size_t bytes = call.bytes();
  std::vector<Section> every;
  for (int block = 0; block < ranks; ++block) every.push_back({static_cast<std::size_t>(block) * bytes, bytes});
  if (call.collective == Collective::alltoall) return {every, every};
  const bool is_root = rank == call.root;
  const auto root = static_cast<std::size_t>(call.root);
  const bool stays = is_root && buffers.in == buffers.out;  // the root's own block, where it is
  std::vector<Section> one(every.size());
  one[root] = {stays ? every[root].offset : 0, bytes};
  std::vector<Section> of_all = is_root ? every : std::vector<Section>(every.size());
  if (call.collective == Collective::gather) return {std::move(one), std::move(of_all)};
  return {std::move(of_all), std::move(one)};
}

}  // namespace chorus
