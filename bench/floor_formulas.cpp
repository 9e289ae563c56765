// SPDX-License-Identifier: Apache-2.0
#include "floor_formulas.hpp"

#include <algorithm>
#include <limits>

namespace chorus::bench {
namespace {

/// Rates of one way from rank to rank; infinite where there is nothing to do.
using Way = NodeSpeed::Way;

double bytes_us(const Need& need, const Way& way, double copy_rate) {
  return need.read / way.read + need.written / way.write + need.copied / copy_rate;
}

double bytes_us(const Needs& needs, const NodeSpeed& speed, Memory memory) {
  constexpr double at_once = std::numeric_limits<double>::infinity();
  const auto by = [&](const Way& way) {
    return std::max(bytes_us(needs.root, way, speed.copy), bytes_us(needs.other, way, speed.copy));
  };
  if (memory == Memory::registered) return by({.write = at_once, .read = speed.read()});
  const double by_segment = std::min(by(speed.cached), by(speed.streamed));
  return speed.system_read > 0 ? std::min(by_segment, by({.write = at_once, .read = speed.system_read})) : by_segment;
}

}  // namespace

Needs needs_of(Collective collective, std::size_t bytes, int ranks) {
  const auto n = static_cast<double>(bytes);
  const double others = ranks - 1;
  const double of_others = n * others / ranks;  // of a vector that the ranks divide among them
  const auto each = [](const Need& need) { return Needs{need, need}; };
  if (collective == Collective::barrier) return each({.lines = 1});
  if (bytes == 0) return {};
  switch (collective) {
    case Collective::gather:
    case Collective::gatherv:
      return {{.lines = 1, .read = others * n, .copied = n}, {.lines = 1, .written = n}};
    case Collective::allgather:
    case Collective::allgatherv:
      return each({.lines = 1, .read = others * n, .written = n, .copied = n});
    case Collective::alltoall:
    case Collective::alltoallv:
    case Collective::alltoallw:
      return each({.lines = 1, .read = others * n, .written = others * n, .copied = n});
    case Collective::scatter:
    case Collective::scatterv:
      return {{.lines = 1, .written = others * n, .copied = n}, {.lines = 1, .read = n}};
    case Collective::reduce:
      return {{.lines = 1, .read = n, .reduced = n}, {.lines = 1, .written = n}};
    case Collective::scan:
      return {{.lines = 1, .read = n, .reduced = n}, {.lines = 1, .written = n, .copied = n}};
    case Collective::exscan:
      return {{.lines = 1, .read = n, .reduced = ranks > 2 ? n : 0}, {.lines = 1, .written = n}};
    case Collective::reduce_scatter_block:
    case Collective::reduce_scatter:
      return each({.lines = 1, .read = of_others, .written = of_others, .reduced = of_others});
    case Collective::allreduce:
      return each({.lines = 1, .read = 2 * of_others, .written = of_others + n / ranks, .reduced = of_others});
    default:
      return {{.lines = 1, .written = n}, {.lines = 1, .read = n}};  // bcast
  }
}

Floor floor_of(const Needs& needs, const NodeSpeed& speed, Memory memory) {
  const Floor bounds[] = {{std::max(needs.root.lines, needs.other.lines) * speed.line_us, "line"},
                          {bytes_us(needs, speed, memory), "bytes"},
                          {std::max(needs.root.reduced, needs.other.reduced) / speed.reduce, "reduction"}};
  return *std::ranges::max_element(bounds, {}, &Floor::us);
}

}  // namespace chorus::bench
