// SPDX-License-Identifier: Apache-2.0
#include "tune_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <vector>

namespace chorus::tune {
namespace {

constexpr const char* link_row = "{:<44}{:>14}{:>12}{:>16}{:>12}\n";
constexpr const char* verdict_row = "{:<22}{:>10}  {:<24}{:>10}  {:<24}{:>10}  {:<24}{:>14}\n";

/// Three digits and more.
std::string number(double value) { return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value); }
std::string number_if(double value) { return value > 0 && value < 1e6 ? number(value) : "-"; }

std::string line(std::string_view name, const Link& measured, const Link& without) {
  return fmt::format(link_row, name, number_if(measured.latency_us), number_if(measured.megabytes_per_second),
                     number_if(without.latency_us), number_if(without.megabytes_per_second));
}

struct Regrets {
  std::vector<bench::Regret> with_file, without;
};

Regrets regrets_of(std::span<const Verdict> verdicts) {
  Regrets regrets;
  for (const Verdict& verdict : verdicts) {
    regrets.with_file.push_back(verdict.with_file);
    regrets.without.push_back(verdict.without);
  }
  return regrets;
}

double mean(std::span<const bench::Regret> regrets) {
  std::vector<double> ratios;
  for (const bench::Regret& regret : regrets) ratios.push_back(regret.ratio.value);
  return bench::geometric_mean(ratios);
}

std::string lines(const std::string& name, const MessageLink& measured, const MessageLink& without) {
  std::string text = line(name, measured.of(0), without.of(0));
  if (std::isfinite(measured.long_from)) {
    text += line(fmt::format("  of {:.0f} bytes and more", measured.long_from), measured.of(measured.long_from),
                 without.of(measured.long_from));
  }
  return text;
}

}  // namespace

std::string heading(const Tuning::Machine& machine) {
  std::string text =
      fmt::format("\n# chorus-tune v{}\n# Ranks: {}. Nodes: {}.", CHORUS_VERSION, machine.ranks, machine.nodes);
  if (!machine.site.mpi.empty()) text += fmt::format(" MPI: {}.", machine.site.mpi);
  if (!machine.site.processor.empty()) text += fmt::format(" Processor: {}.", machine.site.processor);
  text += fmt::format(" Cores: {}.\n", machine.site.cores);
  if (machine.crowded.value_or(false)) {
    text += "# Note: more ranks than cores: the links hold for jobs alone of which that is true, too.\n";
  }
  return text;
}

std::string summary(const LinkModel& measured, const LinkModel& without) {
  std::string text = fmt::format(link_row, "# Link", "Latency(us)", "MB/s", "without a file:", "MB/s");
  text += line("shared memory: rounds, bytes in and out", measured.shared, without.shared);
  text += line("  one rank alone", {0, measured.shared_alone_megabytes_per_second},
               {0, without.shared_alone_megabytes_per_second});
  text += line("  a round, for each rank", {measured.shared_peer_us, 0}, {without.shared_peer_us, 0});
  text += line("another process's memory", measured.read, without.read);
  text +=
      line("  long blocks", {0, measured.long_read_megabytes_per_second}, {0, without.long_read_megabytes_per_second});
  text += lines("messages inside a node", measured.node, without.node);
  if (measured.network != without.network) {  // there are several
    text += lines("messages between nodes, one rank of each", measured.network, without.network);
    text += line("  to the next node alone", {0, measured.to_next_gain * measured.network.megabytes_per_second},
                 {0, without.to_next_gain * without.network.megabytes_per_second});
    text += line("  beside another one under way", {measured.further_message * measured.network.latency_us, 0},
                 {without.further_message * without.network.latency_us, 0});
  }
  if (measured.network_by_all) {
    text += lines("messages between nodes, all ranks, together", *measured.network_by_all,
                  without.network_by_all.value_or(without.network));
  }
  return text + line("reductions", {0, measured.reduce_megabytes_per_second}, {0, without.reduce_megabytes_per_second});
}

std::string verdict_heading() {
  return "\n# Regret: the median of the chosen algorithm over the least; 1 where the best is chosen.\n" +
         fmt::format(verdict_row, "# Collective", "Size", "Without the file", "Regret", "With the file", "Regret",
                     "Best", "Best Median(us)");
}

std::string verdict_line(const Verdict& verdict) {
  const auto regret = [](const bench::Regret& of) { return fmt::format("{:.3f}", of.ratio.value); };
  const bench::Regret& with = verdict.with_file;
  return fmt::format(verdict_row, with.collective, with.has_size ? fmt::to_string(with.bytes) : "-",
                     verdict.without.chosen, regret(verdict.without), with.chosen, regret(with), with.best,
                     fmt::format("{:.2f}", with.best_us.median));
}

std::string verdict_summary(std::span<const Verdict> verdicts) {
  const Regrets regrets = regrets_of(verdicts);
  return bench::regret_summary("the choice without the file", regrets.without) +
         bench::regret_summary("the choice with it", regrets.with_file);
}

std::string advice(const std::string& file, std::span<const Verdict> verdicts) {
  constexpr double clearly = 1.1;  // what is less is noise
  const Regrets regrets = regrets_of(verdicts);
  if (mean(regrets.with_file) > clearly * mean(regrets.without)) {
    return "# This file chooses worse than no file: the machine was busy; measure again on a quiet one.\n";
  }
  return fmt::format("# To use it: export CHORUS_TUNING_FILE={}\n", file);
}

}  // namespace chorus::tune
