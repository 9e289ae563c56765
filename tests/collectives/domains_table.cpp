// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/performance.md: what crosses between the packages and NUMA domains of large nodes, counted
// in a simulated world, and the times that the model predicts.

#include "base/bytes.hpp"
#include "base/names.hpp"
#include "choose.hpp"
#include "collectives/crossing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace chorus::test {
namespace {

struct Size {
  const char* text;
  std::size_t bytes;
};
constexpr Size sizes[] = {{"8 B", 8}, {"64 KiB", 65536}, {"4 MiB", std::size_t{4} << 20U}};

std::string text(double bytes, double least) {
  const double times = bytes / least;
  return fmt::format("{:.{}f}", times, times < 10 && times != std::floor(times) ? 1 : 0);
}

/// The fastest of the flat forms by the model.
double flat_us(const Problem& problem) {
  double us = std::numeric_limits<double>::infinity();
  for (const Algorithm* algorithm : algorithms(problem.call.collective)) {
    const bool flat = algorithm->name == "line" || algorithm->name == "slot" || algorithm->name == "shared";
    if (flat && algorithm->applies(problem)) us = std::min(us, predicted_us(*algorithm, problem, LinkModel()));
  }
  return us;
}

void print_row(const std::string& machine, Collective collective, const Size& size) {
  const Problem problem = problem_on(machine, collective, size.bytes);
  if (problem.call.bytes() == 0) return;  // fewer numbers than ranks
  const Algorithm& domains = algorithm_named(collective, "domains");
  const Crossing crossing = counted(domains, machine, problem);
  const Crossing flat_form = flat(problem);
  const Crossing floor = least(problem);
  const std::size_t package = crossing.bytes.size() - 1;
  fmt::print("| {} | {} | {:.0f} | {} | {} | {:.0f} | {} | {} | {:.1f} | {:.1f} |\n", name(collective), size.text,
             floor.bytes[package], text(flat_form.bytes[package], floor.bytes[package]),
             text(crossing.bytes[package], floor.bytes[package]), floor.bytes[1],
             text(flat_form.bytes[1], floor.bytes[1]), text(crossing.bytes[1], floor.bytes[1]), flat_us(problem),
             predicted_us(domains, problem, LinkModel()));
}

void print_table(const std::string& machine) {
  fmt::print(
      "\n`{}`:\n\n| collective | vector | package, least | flat | `domains` | domain, least | flat | `domains` | "
      "flat us | `domains` us |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
      machine);
  for (const Collective collective : {Collective::allreduce, Collective::bcast, Collective::reduce,
                                      Collective::allgather, Collective::reduce_scatter_block}) {
    for (const Size& size : sizes) print_row(machine, collective, size);
  }
}

}  // namespace
}  // namespace chorus::test

int main() {
  chorus::test::print_table("pack:2 numa:4 core:8");
  chorus::test::print_table("pack:2 l3:12 core:8");
}
