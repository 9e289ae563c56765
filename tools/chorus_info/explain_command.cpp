// SPDX-License-Identifier: Apache-2.0
#include "base/names.hpp"
#include "carry_out.hpp"
#include "choose.hpp"
#include "command.hpp"
#include "repeatability.hpp"
#include "transport/communicator_state.hpp"
#include "tunings.hpp"
#include "why_not.hpp"
#include "words.hpp"

#include <chorus/barrier.hpp>

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>

namespace chorus::info {
namespace {

struct Options {
  std::string collective;
  std::string size;
  int ranks = 0;  // 0: not given, those of the job
  int nodes = 1;
};

Collective parse_collective(const std::string& text) {
  if (const auto collective = collective_named(text)) return *collective;
  throw UserError(fmt::format("no collective is called {}; {}", text, suggestion(text, collective_names())));
}

/// float32, as chorus-bench: `bytes` are the whole input of a reduce_scatter_block, one rank's block elsewhere.
Call call_of(Collective collective, std::size_t bytes, int ranks) {
  std::size_t count = bytes / size_of(DataType::float32);
  if (collective == Collective::reduce_scatter_block) count /= static_cast<std::size_t>(ranks);
  if (collective == Collective::allgatherv) count *= static_cast<std::size_t>(ranks);
  if (counts_differ(collective)) count = 0;  // no rank knows those of the others
  return {.collective = collective, .type = DataType::float32, .count = count};
}

/// Throws   UserError of a size that chorus-bench would not measure either.
void check_size(const Call& call, std::size_t bytes, int ranks) {
  if (call.collective == Collective::barrier || counts_differ(call.collective)) return;
  if (bytes % size_of(DataType::float32) != 0) {
    throw UserError(fmt::format("SIZE: {} bytes are no whole number of float32 elements", bytes));
  }
  if (bytes != 0 && call.count == 0) {
    throw UserError(fmt::format("SIZE: {} bytes are less than one float32 for each of the {} ranks", bytes, ranks));
  }
}

/// A machine that is not this one: ranks evenly on nodes, memory shared inside each.
Problem imagined(const Call& call, const Options& options, const Settings& settings) {
  if (options.nodes < 1 || options.nodes > options.ranks) throw UserError("--nodes must be 1 to the number of ranks");
  Problem problem{.call = call, .ranks = options.ranks, .nodes = options.nodes};
  problem.largest_node = (options.ranks + options.nodes - 1) / options.nodes;
  problem.smallest_node = options.ranks / options.nodes;
  problem.shared = options.nodes == 1;
  problem.single_copy = problem.shared && settings.single_copy;
  problem.slot_bytes = settings.slot_bytes;
  if (problem.shared) problem.domains = NodeShape::pretended(settings.domains, options.ranks).radices();
  problem.native = call.repeatability == Repeatability::none;
  return problem;
}

void show(const Problem& problem, const Choice& choice) {
  const std::string size =
      counts_differ(problem.call.collective) ? "of any lengths" : fmt::format("{} bytes", problem.call.bytes());
  fmt::print("{} ({}) on {}, {}{}\n", describe(problem.call), size,
             counted(static_cast<std::size_t>(problem.ranks), "rank"),
             counted(static_cast<std::size_t>(problem.nodes), "node"), problem.shared ? ", memory shared" : "");
  fmt::print("  {:<24}{:>14}{:>14}\n", "algorithm", "predicted us", "measured us");
  for (const Candidate& candidate : choice.candidates) {
    if (!candidate.applies) {
      const std::string why = why_not(*candidate.algorithm, problem);
      fmt::print("  {:<24}{:>14}   does not apply{}\n", candidate.algorithm->name, "-", why.empty() ? "" : ": " + why);
      continue;
    }
    const std::string measured = candidate.measured_us ? fmt::format("{:.2f}", *candidate.measured_us) : "-";
    fmt::print("  {:<24}{:>14.2f}{:>14}{}\n", candidate.algorithm->name, candidate.predicted_us, measured,
               candidate.algorithm == choice.algorithm ? "   <- taken: " + choice.reason : "");
  }
}

void run(const Communicator& world, const Options& options) {
  const Collective collective = parse_collective(options.collective);
  const bool sized = collective != Collective::barrier && !counts_differ(collective);
  if (collective == Collective::barrier && !options.size.empty())
    throw UserError("a barrier has no SIZE: leave it out");
  if (options.size.empty() && sized) throw UserError("SIZE is missing: give bytes, such as 8, 64k or 1MiB");
  const auto bytes = options.size.empty() ? 0 : parse_bytes(options.size);
  if (!bytes) throw UserError(fmt::format("SIZE {} is no number of bytes such as 8, 64k or 1MiB", options.size));
  const int ranks = options.ranks > 0 ? options.ranks : world.size();
  const Call plain = call_of(collective, *bytes, ranks);
  check_size(plain, *bytes, ranks);
  barrier(world);  // sets the communicator up, so that what the ranks share is known
  if (world.rank() != 0) return;
  detail::CommunicatorState& state = world.state();
  const Call call = asking_for(wanted({}, state.settings()), plain);
  const Problem problem =
      options.ranks > 0 ? imagined(call, options, state.settings()) : problem_of(call, state.transport());
  const std::string& wish = state.settings().algorithm[static_cast<std::size_t>(collective)];
  const Tunings tunings(state.settings().tuning, state.pace(), state.network(), options.ranks == 0 && state.crowded());
  show(problem, choose(problem, {.option = {}, .environment = wish}, tunings.of(call)));
}

}  // namespace

Action add_explain(CLI::App& command) {
  const auto options = std::make_shared<Options>();
  command.add_option("COLLECTIVE", options->collective, "such as allreduce")->required();
  command.add_option("SIZE", options->size,
                     "bytes as chorus-bench counts them, such as 8, 64k or 1MiB; none of a barrier");
  CLI::Option* ranks =
      command.add_option("--ranks", options->ranks, "explain for this many ranks instead of those of the job");
  ranks->check(CLI::Range(1, std::numeric_limits<int>::max()));
  command.add_option("--nodes", options->nodes, "with --ranks: on this many nodes")->needs(ranks);
  command.footer("Under mpirun it explains the choice for the ranks of the job, of float32 elements added up.");
  return [options](const Communicator& world) { run(world, *options); };
}

}  // namespace chorus::info
