// SPDX-License-Identifier: Apache-2.0
#include "tune_options.hpp"

#include "base/names.hpp"
#include "option_checks.hpp"
#include "sizes.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace chorus::tune {
namespace {

using bench::Refusal;

constexpr const char* meaning = R"(What it does
  Measures what rounds and copies in shared memory and messages inside and between the nodes take on these ranks, for the
  model by which the library chooses algorithms; a few seconds, and writes it. Then, within a minute in all, every algorithm
  of some collectives and sizes, to show how good the choice is by the model: Regret is the chosen one's median over the
  least. What the minute has no time for is left out, and so are sizes that make long vectors of many ranks.
  With --exhaustive it measures every algorithm of every collective and size instead, minutes to an hour, and the times
  go into the file: the fastest that was measured is taken then. Not of gatherv, scatterv, alltoallv and alltoallw: no
  rank knows the lengths of the others there.
  Start it as the programs that will use the file: as many ranks on as many nodes, bound alike.
Use
  CHORUS_TUNING_FILE=FILE, or copy it to etc/chorus/tuning.json below the installation's prefix, for all. The file is not
  used with another MPI library, or on another kind of machine.
Exit code: 0; 1 wrong data or a failed call; 2 what was asked for cannot be done.)";

constexpr std::string_view sample[] = {"bcast", "reduce", "allreduce", "allgather", "reduce_scatter_block", "alltoall"};

struct Arguments {
  std::vector<std::string> collectives;
  std::string sizes;
  std::optional<std::int64_t> iterations;
  TuneOptions options;
};

std::span<const bench::Row> row_of(std::string_view collective) {
  const std::span<const bench::Row> rows = bench::table();
  std::vector<std::string_view> names;
  for (const bench::Row& row : rows) {
    if (row.name == collective) return {&row, 1};
    names.push_back(row.name);
  }
  throw Refusal(fmt::format("unknown collective \"{}\"; {}", collective, suggestion(collective, names)));
}

/// Those of which no rank knows how long the call is are chosen for without their times.
bool has_known_length(std::string_view collective) { return !counts_differ(collective_named(collective).value()); }

std::vector<std::string> default_collectives(bool exhaustive) {
  if (!exhaustive) return {std::begin(sample), std::end(sample)};
  std::vector<std::string> names;
  for (const bench::Row& row : bench::table()) {
    if (has_known_length(row.name)) names.emplace_back(row.name);
  }
  return names;
}

bench::SizeRange sizes_of(const Arguments& arguments) {
  if (arguments.sizes.empty()) {
    return arguments.options.exhaustive ? bench::SizeRange{.min = 4, .max = std::size_t{4} << 20U}
                                        : bench::SizeRange{.min = 1024, .max = std::size_t{256} << 10U};
  }
  try {
    return bench::parse_size_range(arguments.sizes);
  } catch (const std::invalid_argument& error) {
    throw Refusal(fmt::format("-m: {}", error.what()));
  }
}

TuneOptions interpret(Arguments& arguments) {
  constexpr std::int64_t most = 1'000'000'000;
  TuneOptions& options = arguments.options;
  if (options.file.empty()) throw Refusal("-o: an empty name is no file");
  if (arguments.iterations && (*arguments.iterations < 1 || *arguments.iterations > most)) {
    throw Refusal(fmt::format("-i must be 1 to {}, not {}", most, *arguments.iterations));
  }
  options.sizes_named = !arguments.sizes.empty();
  if (arguments.collectives.empty()) arguments.collectives = default_collectives(options.exhaustive);
  for (const std::string& collective : arguments.collectives) {
    bench::Options subject;
    subject.rows = row_of(collective);
    if (options.exhaustive && !has_known_length(collective)) {
      throw Refusal(
          fmt::format("--exhaustive: no rank knows the lengths of the others in {}, so that times of its sizes "
                      "have no use",
                      collective));
    }
    subject.sizes = sizes_of(arguments);
    if (arguments.iterations) subject.iterations = static_cast<std::size_t>(*arguments.iterations);
    options.subjects.push_back(std::move(subject));
  }
  return std::move(options);
}

}  // namespace

std::optional<TuneOptions> parse_options(int argc, const char* const* argv, std::string& text) {
  CLI::App app(
      "Measures the machine, and writes a tuning file by which chorus chooses algorithms.\n"
      "Launch it by mpirun or srun.",
      "chorus-tune");
  app.footer(meaning);
  app.set_version_flag("--version", "chorus-tune " CHORUS_VERSION);
  Arguments arguments;
  arguments.options.file = "chorus-tuning.json";
  app.add_option("COLLECTIVE", arguments.collectives,
                 fmt::format("whose algorithms are measured [{}; with --exhaustive all]", joined(sample)));
  app.add_option("-o,--output", arguments.options.file, "the file to write [chorus-tuning.json]")->type_name("FILE");
  app.add_flag("--exhaustive", arguments.options.exhaustive, "measure every size, and write the times");
  app.add_option("-m,--message-size", arguments.sizes,
                 "bytes, doubling from MIN to MAX; K, M and G are powers of 1024 [1K:256K, every second; with "
                 "--exhaustive 4:4M]")
      ->check(bench::some_size())
      ->type_name("[MIN:]MAX");
  app.add_option("-i,--iterations", arguments.iterations, "timed repetitions for each size, whatever they take")
      ->check(bench::whole_number())
      ->type_name("N");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    text = app.help();
    return std::nullopt;
  } catch (const CLI::CallForVersion& version) {
    text = fmt::format("{}\n", version.what());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw bench::refusal(app, error);
  }
  return interpret(arguments);
}

}  // namespace chorus::tune
