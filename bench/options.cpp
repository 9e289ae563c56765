// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "algorithm_names.hpp"
#include "base/names.hpp"
#include "option_checks.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace chorus::bench {
namespace {

constexpr const char* meaning_of_the_numbers = R"(What the numbers are
  Size         bytes one rank gives, as in the OSU benchmarks: allgather the block sent, alltoall the block
               for each rank, reduce_scatter_block the whole input (rounded down to whole elements per
               rank). float32, sum, root 0.
  Avg Latency  OSU's: each call timed alone after an MPI_Barrier; the mean of all calls of all ranks.
  Min, Max     the least and greatest of the ranks' means.
  Median, P25, P75 and the ratio
               of repetitions: a repetition is one call, or of short calls a block of at least 20 us divided by its
               calls (those that need not wait for all ranks then overlap); its time is the slowest rank's.
  Ratio        chorus/MPI (or NCCL) of the medians, below 1 where chorus is faster; 95 % bootstrap interval of paired
               repetitions.
  Bus BW       of memory of GPUs: by the median of chorus, as nccl-tests define it; 10^9 bytes/s.
With --memory device calls are put into a stream of the rank's GPU; a time ends when the host has waited for the stream.
Sizes are checked before they are timed, always. Without -i the repetitions are 10000 (1000 above 8192 bytes), fewer
where they would take more than about a second for a size.
Exit code: 0; 1 wrong data or a failed call; 2 what was asked for cannot be done.)";

constexpr const char* meaning_of_regret = R"(What the numbers are
  Median  of repetitions of one algorithm. All that apply are measured in turn, in an order drawn anew each time.
  Best    the algorithm with the least median in every second repetition.
  Regret  the chosen one's median over the best one's in the other repetitions, as the best is flattered in its own; 1
          where they are the same algorithm; 95 % bootstrap interval. Of less than 20 repetitions all count for both.
With --json one line for each algorithm: with "chosen" besides what a latency test writes.)";

constexpr const char* meaning_of_floor = R"(What the numbers are
  First the node: a cache line's one way between ranks 0 and 1, then the rates of copying, of writing into and reading
  from shared memory, and of adding two vectors, all ranks at once; of each the best of a few repetitions.
  Floor   the longest of: the lines that must follow one another; what must be written for others, read and copied, at
          these rates; what must be added. Measured anew before every size, as machines change.
  Median  of repetitions as in a latency test, but no call overlaps another, not even a bcast.
Ranks must share memory.)";

constexpr const char* meaning_of_overlap = R"(What the numbers are
  Blocking, Nonblocking, Persistent
           medians of the call, of its start and wait at once, and of the start and wait of one prepared before, measured
           in turn. Ratio: over blocking.
  Overlap  the call is started, then the rank computes for as long as the nonblocking call takes, then waits. How much
           of the call the computation hides: 100 % * (1 - (total - computation alone) / nonblocking), as in the OSU
           benchmarks. Nothing of chorus is called meanwhile: what is hidden is the progress thread's work.
  Tested   the same with --tests calls of test() spread over the computation.
  Busy computation is an amount of work: a progress thread that takes its processor makes it longer, and counts.
  A sleeping one leaves its processor to the progress thread, as while an accelerator computes.)";

constexpr const char* meaning_of_strategies = R"(What the numbers are
  On one rank the strategy is mirrored, on several multi-worker mirrored; replicas are threads bound to cores.
  Run         of a function that does nothing, beside threads that wait for each other.
  All-reduce  by the replicas, beside the collectives below it.
  Gradients   100 tensors of 10 kB, one call for each, or packed by the strategy; then beside a computation as long as
              their reduction, which reduces afterwards, or each tensor as it is computed.
  Ratio, Added and Gain are of medians measured in turn, with a 95 % bootstrap interval.)";

// The arguments as they were typed.
struct Arguments {
  std::string collective;  ///< empty: not given
  std::string sizes;
  std::optional<std::int64_t> iterations;
  std::optional<std::int64_t> warmup;
  std::optional<std::int64_t> tests;
  std::optional<std::int64_t> replicas;
  std::string compare;
  std::string compute;
  std::string memory;
  Options options;
};

// What every measurement understands.
void declare_effort(CLI::App& app, Arguments& arguments) {
  app.add_option("-m,--message-size", arguments.sizes,
                 "bytes, doubling from MIN to MAX; K, M and G are powers of 1024 [4:1M]")
      ->check(some_size())
      ->type_name("[MIN:]MAX");
  app.add_option("-i,--iterations", arguments.iterations, "timed repetitions for each size")
      ->check(whole_number())
      ->type_name("N");
  app.add_option("-x,--warmup", arguments.warmup, "calls before the clock runs [200, above 8192 bytes 10]")
      ->check(whole_number())
      ->type_name("N");
}

// What every measurement of collectives understands.
void declare_common(CLI::App& app, Arguments& arguments, const std::string& collectives) {
  app.add_option("COLLECTIVE", arguments.collective, collectives);
  declare_effort(app, arguments);
  app.add_option("--memory", arguments.memory,
                 "what the buffers are of: ordinary memory, that of chorus::allocate, or of GPUs [host]")
      ->check(CLI::IsMember({"host", "registered", "device"}).description(""))
      ->type_name("host|registered|device");
  app.add_option("--json", arguments.options.json_file, "also write one JSON object per measurement")
      ->check(file_name())
      ->type_name("FILE");
  app.add_option("--note", arguments.options.note,
                 "goes above the table, into the JSON and the plot: the machine, perhaps, and the date")
      ->type_name("TEXT");
}

void declare_reproducible(CLI::App& app, Options& options) {
  app.add_flag("--reproducible", options.reproducible, "exact sums: the same bits for every order of the ranks");
}

void declare_compare(CLI::App& app, Arguments& arguments, const std::vector<std::string>& peers, const char* meaning) {
  std::string names;
  for (const std::string& peer : peers) names += (names.empty() ? "" : "|") + peer;
  app.add_option("--compare", arguments.compare, meaning)
      ->check(CLI::IsMember(peers).description(""))
      ->type_name(names);
}

void declare_compute(CLI::App& app, Arguments& arguments) {
  app.add_option("--compute", arguments.compute, "keep the processor busy, or leave it to the progress thread")
      ->check(CLI::IsMember({"busy", "sleep"}).description(""))
      ->type_name("busy|sleep");
}

void declare_latency(CLI::App& app, Arguments& arguments) {
  Options& options = arguments.options;
  app.set_version_flag("--version", "chorus-bench " CHORUS_VERSION);
  declare_common(app, arguments,
                 joined(collective_names()) + "; all: one after another; list: print each with its algorithms");
  app.add_flag("-c,--validation", options.check, "check the data after the timing too, and print the outcome");
  app.add_flag("-f,--full", options.full, "print the spread and the number of iterations too");
  app.add_option("--algorithm", options.algorithm, "an algorithm by name, or all of them, one table each [auto]")
      ->type_name("NAME|all");
  declare_compare(
      app, arguments, {"native", "nccl", "plain"},
      "measure MPI's own collective, that of NCCL (with --memory device), or chorus's with plain sums (with "
      "--reproducible) in turn with chorus and print the ratio");
  declare_reproducible(app, options);
  app.add_option("--plot", options.plot_file, "also draw latency against size (needs gnuplot)")
      ->check(file_name())
      ->type_name("FILE.svg");
}

void declare_overlap(CLI::App& app, Arguments& arguments, const char* which) {
  Options& options = arguments.options;
  CLI::App* overlap = app.add_subcommand(
      "overlap", "how much of the nonblocking collective hides behind computation, and what its forms take");
  declare_common(*overlap, arguments, which);
  overlap->add_flag("-f,--full", options.full, "print the 95 % intervals too");
  overlap->add_option("--tests", arguments.tests, "calls of test() in one computation, where it is tested [10]")
      ->check(whole_number())
      ->type_name("N");
  declare_compute(*overlap, arguments);
  declare_compare(*overlap, arguments, {"native"}, "measure MPI's own nonblocking collective, too");
  overlap->footer(meaning_of_overlap);
  overlap->callback([&options] { options.measurement = Measurement::overlap; });
}

void declare_strategies(CLI::App& app, Arguments& arguments) {
  Options& options = arguments.options;
  CLI::App* strategies = app.add_subcommand("strategies", "what a strategy adds to threads and collectives");
  declare_effort(*strategies, arguments);
  strategies->add_option("--replicas", arguments.replicas, "replicas on each rank [one rank: 2, several: 1]")
      ->check(whole_number())
      ->type_name("N");
  declare_compute(*strategies, arguments);
  strategies->footer(meaning_of_strategies);
  strategies->callback([&options] { options.measurement = Measurement::strategies; });
}

void declare_subcommands(CLI::App& app, Arguments& arguments) {
  constexpr const char* which = "the collective, or all [all]";
  Options& options = arguments.options;
  CLI::App* regret = app.add_subcommand(
      "regret", "how much slower the algorithm that the library chooses is than the best of those that apply");
  declare_common(*regret, arguments, which);
  declare_reproducible(*regret, options);
  regret->footer(meaning_of_regret);
  regret->callback([&options] { options.measurement = Measurement::regret; });
  CLI::App* floor = app.add_subcommand("floor", "how near each collective comes to the least that one node allows");
  declare_common(*floor, arguments, which);
  floor->footer(meaning_of_floor);
  floor->callback([&options] { options.measurement = Measurement::floor; });
  declare_overlap(app, arguments, which);
  declare_strategies(app, arguments);
}

[[noreturn]] void refuse_name(const std::string& what, std::string_view name, std::span<const std::string_view> known) {
  throw Refusal(fmt::format("unknown {} \"{}\"; {}", what, name, suggestion(name, known)));
}

std::span<const Row> rows_of(std::string_view collective, Measurement measurement) {
  const std::span<const Row> rows = table();
  if (collective == "all") return rows;
  std::vector<std::string_view> names;
  for (const Row& row : rows) {
    if (row.name == collective) return {&row, 1};
    names.push_back(row.name);
  }
  names.emplace_back("all");
  if (measurement == Measurement::latency) {
    names.insert(names.end(), {"list", "regret", "floor", "overlap", "strategies"});
  }
  refuse_name("collective", collective, names);
}

void check_algorithm(const Options& options, const Row& row) {
  std::vector<std::string_view> names = algorithm_names(row.name, place_of(options.memory));
  names.insert(names.begin(), {"auto", "all"});
  if (std::ranges::find(names, options.algorithm) != names.end()) return;
  check_place(options, row);
  refuse_name(fmt::format("{} algorithm", row.name), options.algorithm, names);
}

void check_plot(std::span<const Row> rows, std::string_view file) {
  if (!file.ends_with(".svg")) {
    const std::filesystem::path svg = std::filesystem::path(file).replace_extension(".svg");
    throw Refusal(fmt::format("--plot writes SVG: name the file {}", svg.string()));
  }
  if (rows.size() > 1) throw Refusal("--plot draws one collective: name it instead of all");
  if (!rows[0].has_size) {
    throw Refusal(fmt::format("--plot draws latency against size, and {} has no size", rows[0].name));
  }
}

constexpr std::int64_t most_of_anything = 1'000'000'000;  // CLI11 takes longer numbers for the greatest there is
constexpr std::int64_t most_replicas = 1024;              // each is a thread

std::optional<std::size_t> at_least(std::int64_t least, std::optional<std::int64_t> number, const char* option,
                                    std::int64_t most = most_of_anything) {
  if (!number) return std::nullopt;
  if (*number < least) throw Refusal(fmt::format("{} must be at least {}, not {}", option, least, *number));
  if (*number > most) throw Refusal(fmt::format("{} must be at most {}", option, most));
  return static_cast<std::size_t>(*number);
}

void interpret_effort(const Arguments& arguments, Options& options) {
  try {
    if (!arguments.sizes.empty()) options.sizes = parse_size_range(arguments.sizes);
  } catch (const std::invalid_argument& error) {
    throw Refusal(fmt::format("-m: {}", error.what()));
  }
  options.iterations = at_least(1, arguments.iterations, "-i");
  options.warmup = at_least(0, arguments.warmup, "-x");
}

/// Throws   Refusal of what has no meaning for the one collective that is measured.
void check_meaning(const Arguments& arguments, const Options& options) {
  if (options.rows.size() != 1) return;
  const Row& row = options.rows[0];
  if (!row.has_size && !arguments.sizes.empty()) throw Refusal(fmt::format("-m: {} has no size", row.name));
  if (options.reproducible && !has_op(collective_named(row.name).value())) {
    throw Refusal(fmt::format("--reproducible is of sums, and {} has none", row.name));
  }
}

Options interpret(Arguments& arguments) {
  Options& options = arguments.options;
  if (arguments.collective.empty()) {
    if (options.measurement == Measurement::latency) throw Refusal("COLLECTIVE is required (see --help)");
    arguments.collective = "all";
  }
  if (options.measurement != Measurement::strategies) options.rows = rows_of(arguments.collective, options.measurement);
  if (!arguments.compare.empty()) options.compare = peer_of(arguments.compare);
  options.tests = at_least(1, arguments.tests, "--tests").value_or(options.tests);
  if (const auto replicas = at_least(1, arguments.replicas, "--replicas", most_replicas)) {
    options.replicas = static_cast<int>(*replicas);
  }
  if (arguments.compute == "sleep") options.compute = Compute::sleep;
  if (arguments.memory == "registered") options.memory = Memory::registered;
  if (arguments.memory == "device") options.memory = Memory::device;
  interpret_device(options);
  if (options.reproducible && !options.json_file.empty()) {
    throw Refusal("--reproducible has no --json: a tuning file holds the times of plain calls");
  }
  if (options.compare == Peer::plain && !options.reproducible) {
    throw Refusal("--compare plain tells what exact sums cost: add --reproducible");
  }
  if (options.memory == Memory::registered && !options.json_file.empty()) {
    throw Refusal(
        "--memory registered has no --json: a tuning file holds the times of calls on ordinary memory of the host");
  }
  check_meaning(arguments, options);
  for (const Row& row : options.rows) check_algorithm(options, row);
  if (!options.plot_file.empty()) check_plot(options.rows, options.plot_file);
  return std::move(options);
}

/// Throws   Refusal of what stands before the name of a subcommand, which takes nothing from there.
void check_order(const CLI::App& app) {
  for (const CLI::App* const subcommand : app.get_subcommands()) {
    for (const CLI::Option* const option : app.get_options()) {
      if (option->count() == 0) continue;
      throw Refusal(fmt::format("{0} comes first, and then what it takes: chorus-bench {0} ... (see {0} --help)",
                                subcommand->get_name()));
    }
  }
}

/// Throws   Refusal of options that a list has no use for. It has none for sizes and numbers of calls either, but
/// scripts ask by it whether they are right.
void check_list(const CLI::App& app) {
  constexpr std::string_view taken[] = {"COLLECTIVE", "--message-size", "--iterations", "--warmup"};
  for (const CLI::Option* const option : app.get_options()) {
    if (option->count() == 0 || std::ranges::find(taken, option->get_name()) != std::end(taken)) continue;
    throw Refusal(fmt::format("list takes no {}", option->get_name()));
  }
}

}  // namespace

std::optional<Options> parse_options(int argc, const char* const* argv, std::string& text) {
  CLI::App app("Latency of a chorus collective, in the format of the OSU benchmarks.\nLaunch it by mpirun or srun.",
               "chorus-bench");
  app.footer(meaning_of_the_numbers);
  Arguments arguments;
  declare_latency(app, arguments);
  declare_subcommands(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    text = app.help();
    return std::nullopt;
  } catch (const CLI::CallForVersion& version) {
    text = fmt::format("{}\n", version.what());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw refusal(app, error);
  }
  check_order(app);
  interpret_effort(arguments, arguments.options);
  if (arguments.collective == "list" && arguments.options.measurement == Measurement::latency) {
    check_list(app);
    text = listing();
    return std::nullopt;
  }
  return interpret(arguments);
}

}  // namespace chorus::bench
