// SPDX-License-Identifier: Apache-2.0
#include "given_file.hpp"
#include "links.hpp"
#include "sample.hpp"
#include "transport/communicator_state.hpp"
#include "transport/site.hpp"
#include "tune_options.hpp"
#include "tune_report.hpp"
#include "tunings.hpp"

#include <chorus/barrier.hpp>
#include <chorus/bcast.hpp>
#include <chorus/communicator.hpp>
#include <chorus/environment.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

using namespace chorus;
using tune::TuneOptions;

constexpr int all_right = 0, failed = 1, refused = 2;

/// The file that rank 0 writes: beside its place first, so that no half of it is ever read.
class Output {
 public:
  /// Opens it, so that nothing is measured for a file that cannot be written. Called by all ranks.
  /// Throws   bench::Refusal on every rank.
  Output(std::string path, const Communicator& world)
      : path_(std::move(path)), part_(path_ + ".part"), writes_(world.rank() == 0) {
    int error = 0;
    if (writes_) {
      if (std::filesystem::is_directory(path_)) {
        error = EISDIR;
      } else {
        file_.open(part_);
        error = file_ ? 0 : errno;
      }
    }
    bcast(world, std::span(&error, 1), 0);
    if (error != 0) throw bench::Refusal(fmt::format("-o: cannot write {}: {}", path_, std::strerror(error)));
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (file_.is_open()) std::remove(part_.c_str());
  }

  /// Again and again: each text takes the place of the one before. Throws   std::runtime_error.
  void write(const std::string& text) {
    if (!writes_) return;
    if (!file_.is_open()) file_.open(part_);
    file_ << text;
    file_.close();
    if (!file_) throw std::runtime_error(fmt::format("{} cannot be written", part_));
    std::error_code error;
    std::filesystem::rename(part_, path_, error);
    if (!error) return;
    std::remove(part_.c_str());
    throw std::runtime_error(fmt::format("{} cannot be written: {}", path_, error.message()));
  }

 private:
  std::string path_;
  std::string part_;
  bool writes_;
  std::ofstream file_;
};

Tuning::Machine machine_of(const Communicator& world) {
  const detail::CommunicatorState& state = world.state();
  const std::vector<int>& sizes = state.transport().node_sizes();
  return {.site = this_site(),
          .nodes = static_cast<int>(std::max<std::size_t>(sizes.size(), 1)),
          .ranks = world.size(),
          .ranks_per_node = sizes.empty() ? world.size() : std::ranges::max(sizes),
          .crowded = state.crowded()};
}

int tune_machine(TuneOptions options, const Communicator& world) {
  if (world.size() == 1) {
    throw bench::Refusal("one rank has nothing to measure; launch it as mpirun -n 2 chorus-tune, or with more ranks");
  }
  tune::fit_sizes(options, world.size());
  const std::size_t steps = tune::count_of(options, world.size());
  barrier(world);  // finds what is wrong with the environment before the file is begun
  Output output(options.file, world);
  bench::Console console(world.rank(), steps + tune::link_steps, "chorus-tune");
  const detail::CommunicatorState& state = world.state();
  Tuning tuning{.links = tune::measure_links(world, console), .measured = {}, .machine = machine_of(world)};
  output.write(tuning.to_json());  // the sample may take the rest of the job's time
  const Tunings without(state.settings().tuning, state.pace(), state.network(), state.crowded());
  console.say(tune::heading(tuning.machine) + tune::summary(tuning.links, without.of({}).links) +
              tune::verdict_heading());
  tune::Sample sample = tune::measure_sample(options, tuning.to_json(), world, console);
  tuning.measured = std::move(sample.measured);
  if (options.exhaustive) output.write(tuning.to_json());
  console.say(tune::verdict_summary(sample.verdicts));
  console.say(fmt::format("# Written: {}\n", options.file) + tune::advice(options.file, sample.verdicts));
  return sample.valid ? all_right : failed;
}

/// `left`: why a file of the environment is not used; empty where there is nothing to say.
int run(int argc, char** argv, const Communicator& world, const std::string& left) {
  std::string text;
  const std::optional<TuneOptions> options = tune::parse_options(argc, argv, text);
  if (options && world.rank() == 0 && !left.empty()) fmt::print(stderr, "chorus-tune: {}\n", left);
  if (options) return tune_machine(*options, world);
  if (world.rank() == 0) fmt::print("{}", text);
  return all_right;
}

// Refusals meet every rank alike, so that all leave together.
int refuse(int rank, const std::string& why) {
  if (rank == 0) fmt::print(stderr, "chorus-tune: {}\n", why);
  return refused;
}

int run_or_refuse(int argc, char** argv, const std::string& left) {
  const Communicator world = Communicator::world();
  try {
    return run(argc, argv, world, left);
  } catch (const bench::Refusal& refusal) {
    return refuse(world.rank(), refusal.what());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_environment) throw;
    return refuse(world.rank(), error.message());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string left = tune::leave_unusable_file();
    const Environment environment;
    try {
      return run_or_refuse(argc, argv, left);
    } catch (const std::exception& error) {
      fmt::print(stderr, "chorus-tune: {}\n", error.what());
      std::fflush(nullptr);
      std::_Exit(failed);  // leaving in good order would wait for ranks that wait for this one
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "chorus-tune: {}\n", error.what());
    return failed;
  }
}
