// SPDX-License-Identifier: Apache-2.0
#include "floor_formulas.hpp"

#include <algorithm>
#include <limits>

namespace chorus::bench {
namespace {

bool is_shorter(const Floor& a, const Floor& b) { return a.us < b.us; }

/// One rank's part by plain or streamed stores: what it reads it reduces in the same pass.
Floor through_memory(const Need& need, const NodeSpeed::Way& way, const NodeSpeed& speed) {
  const double bytes = need.read / way.read + need.written / way.write + need.copied / speed.copy;
  const double reduction = need.reduced / speed.reduce;
  return bytes < reduction ? Floor{reduction, "reduction"} : Floor{bytes, "bytes"};
}

/// One rank's part with nothing written: the system copies for its core, which reduces when that is done.
Floor by_system(const Need& need, const NodeSpeed& speed) {
  return {need.read / speed.system_read + need.copied / speed.copy + need.reduced / speed.reduce, "system"};
}

/// That of the rank which takes longest.
Floor of_all(const Needs& needs, const auto& floor_of_one) {
  return std::max(floor_of_one(needs.root), floor_of_one(needs.other), is_shorter);
}

Floor moving(const Needs& needs, const NodeSpeed& speed, Memory memory) {
  const auto by = [&](const NodeSpeed::Way& way) {
    return of_all(needs, [&](const Need& need) { return through_memory(need, way, speed); });
  };
  if (memory == Memory::registered) {
    return by({.write = std::numeric_limits<double>::infinity(), .read = speed.read()});
  }
  const Floor through_segment = std::min(by(speed.cached), by(speed.streamed), is_shorter);
  if (speed.system_read == 0) return through_segment;
  return std::min(through_segment, of_all(needs, [&](const Need& need) { return by_system(need, speed); }), is_shorter);
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
  const Floor line = {std::max(needs.root.lines, needs.other.lines) * speed.line_us, "line"};
  return std::max(line, moving(needs, speed, memory), is_shorter);
}

}  // namespace chorus::bench
