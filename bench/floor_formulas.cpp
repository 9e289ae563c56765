// SPDX-License-Identifier: Apache-2.0
#include "floor_formulas.hpp"

#include <algorithm>

namespace chorus::bench {

Need need_of(Collective collective, std::size_t bytes, int ranks) {
  const auto n = static_cast<double>(bytes);
  const double others = ranks - 1;
  const double of_others = n * others / ranks;  // of a vector that the ranks divide among them
  if (collective == Collective::barrier) return {.lines = 1};
  if (bytes == 0) return {};
  switch (collective) {
    case Collective::gather:
    case Collective::gatherv:
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw:
      return {.lines = 1, .read = others * n, .copied = n};
    case Collective::reduce:
    case Collective::scan:
      return {.lines = 1, .read = n, .reduced = n};
    case Collective::exscan:
      return {.lines = 1, .read = n, .reduced = ranks > 2 ? n : 0};
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
      return {.lines = 1, .read = of_others, .reduced = of_others};
    case Collective::allreduce:
      return {.lines = 1, .read = 2 * of_others, .reduced = of_others};
    default:
      return {.lines = 1, .read = n};  // bcast, scatter, scatterv
  }
}

Floor floor_of(const Need& need, const NodeSpeed& speed) {
  const Floor bounds[] = {{need.lines * speed.line_us, "line"},
                          {need.read / speed.read() + need.copied / speed.copy, "bytes"},
                          {need.reduced / speed.reduce, "reduction"}};
  return *std::ranges::max_element(bounds, {}, &Floor::us);
}

}  // namespace chorus::bench
