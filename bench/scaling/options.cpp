// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "base/names.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace chorus::bench {
namespace {

constexpr const char* about =
    "Measures collectives in simulated time. For smpirun -no-privatize; writes a line of JSON for each measurement, "
    "the "
    "time from the moment when all ranks call until the last one returns.";

void check_collective(const std::string& name) {
  std::vector<std::string_view> known;
  for (const Row& row : table()) known.push_back(row.name);
  if (std::ranges::find(known, name) != known.end()) return;
  throw std::invalid_argument(fmt::format("there is no collective {}; {}", name, suggestion(name, known)));
}

std::size_t bytes_of(const std::string& text) {
  if (const std::optional<std::size_t> bytes = parse_bytes(text)) return *bytes;
  throw std::invalid_argument(fmt::format("--sizes: {} is no size; sizes are like 8, 16K, 1M", text));
}

}  // namespace

std::optional<ScalingOptions> parse_scaling_options(int argc, char** argv, std::string& text) {
  ScalingOptions options;
  std::vector<std::string> sizes = {"8", "1K", "16K", "256K", "1M"};
  options.algorithms = {"auto"};
  CLI::App app(about, "chorus-scaling.so");
  app.add_option("collectives", options.collectives, "such as allreduce, bcast")->required();
  app.add_option("--sizes", sizes, "bytes, as in 8,16K,1M")->delimiter(',')->capture_default_str();
  app.add_option("--algorithms", options.algorithms,
                 "names; auto: what chorus chooses; all: each that applies; mpi: MPI's own, as SMPI is told to choose")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--most-messages", options.most_messages, "leaves algorithms of all out that send more in all");
  app.add_flag("--check", options.check, "gives each rank buffers of its own, and looks at the results");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    text = app.help();
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw std::invalid_argument(error.what());
  }
  for (const std::string& collective : options.collectives) check_collective(collective);
  for (const std::string& size : sizes) options.sizes.push_back(bytes_of(size));
  return options;
}

}  // namespace chorus::bench
