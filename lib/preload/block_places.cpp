// SPDX-License-Identifier: Apache-2.0
#include "preload/block_places.hpp"

#include <algorithm>
#include <limits>

namespace chorus::preload {
namespace {

using Place = BlockPlaces::Place;

std::size_t bytes_of(const Place& place) noexcept { return static_cast<std::size_t>(place.count) * place.type.bytes; }

}  // namespace

bool BlockPlaces::is_one_missing(const void* buffer) const noexcept {
  return std::ranges::any_of(places_, [&](const Place& place) {
    return is_missing(buffer, place.displacement, place.count, place.type.handle);
  });
}

void BlockPlaces::lay_out() {
  extent_ = {};
  plain_ = false;
  if (std::ranges::any_of(places_,
                          [](const Place& place) { return place.count < 0 || (place.count > 0 && !place.type.valid); }))
    return;
  MPI_Aint begin = std::numeric_limits<MPI_Aint>::max();
  MPI_Aint end = std::numeric_limits<MPI_Aint>::min();
  std::size_t all = 0;
  for (const Place& place : places_) {
    if (bytes_of(place) == 0) continue;
    begin = std::min(begin, place.displacement);
    end = std::max(end, place.displacement + static_cast<MPI_Aint>(bytes_of(place)));
  }
  lowest_ = begin < end ? begin : 0;
  length_ = begin < end ? static_cast<std::size_t>(end - begin) : 0;
  counts_.clear();
  displacements_.clear();
  packed_displacements_.clear();
  for (const Place& place : places_) {
    const std::size_t bytes = bytes_of(place);
    counts_.push_back(bytes);
    displacements_.push_back(bytes == 0 ? 0 : static_cast<std::size_t>(place.displacement - lowest_));
    packed_displacements_.push_back(all);
    all += bytes;
  }
  extent_ = {.valid = true, .bytes = all};
  plain_ = std::ranges::all_of(places_, [](const Place& place) { return place.count == 0 || place.type.plain; });
}

}  // namespace chorus::preload
