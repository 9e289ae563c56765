// SPDX-License-Identifier: Apache-2.0
#include "algorithm.hpp"
#include "algorithm_names.hpp"
#include "base/names.hpp"
#include "buffers.hpp"
#include "carry_out.hpp"
#include "options.hpp"
#include "simulated_time.hpp"
#include "table.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/communicator.hpp>
#include <chorus/environment.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::bench {
namespace {

constexpr std::string_view mpi = "mpi";

/// The ranks of the job, without MPI's own collectives: SMPI's are what chorus is compared with.
Communicator ranks_alone() { return Communicator::world().dup(); }

class Scaling {
 public:
  explicit Scaling(const ScalingOptions& options) : options_(options), world_(ranks_alone()), buffers_(options.check) {}

  /// False where a result was wrong.
  bool run() {
    for (const std::string& name : options_.collectives) {
      const Row& row = *std::ranges::find(table(), std::string_view(name), &Row::name);
      for (const std::size_t bytes : options_.sizes) measure(row, fitting_size(row, bytes, world_.size()));
    }
    return right_;
  }

 private:
  void measure(const Row& row, std::size_t bytes) {
    if (row.has_size && bytes == 0) return;
    const std::size_t count = bytes / sizeof(float);
    const Lengths lengths = row.lengths(count, static_cast<std::size_t>(world_.size()));
    Call call{.world = world_, .in = buffers_.in(lengths), .out = buffers_.out(lengths), .options = {}};
    for (const std::string& algorithm : options_.algorithms) {
      if (algorithm == "all") {
        for (const std::string_view name : names(row, count)) measure(row, call, bytes, name);
      } else {
        measure(row, call, bytes, algorithm);
      }
    }
  }

  void measure(const Row& row, Call call, std::size_t bytes, std::string_view algorithm) {
    if (algorithm != "auto" && algorithm != mpi) call.options.algorithm = algorithm;
    const Run body = algorithm == mpi ? row.native : row.chorus;
    if (prepared_ != row.name) body(call);  // what is made once, at a first call
    prepared_ = row.name;
    world_.state().choices.fill({});
    const double microseconds = simulated_us(world_.size(), [&] { body(call); });
    nlohmann::json line = {{"collective", row.name},
                           {"algorithm", algorithm},
                           {"ranks", world_.size()},
                           {"bytes", bytes},
                           {"median_us", microseconds}};
    if (algorithm == "auto") line["chosen"] = chosen_algorithm(world_);
    if (options_.check) {
      const bool right = on_all_ranks(world_.size(), row.validate(call, [&](const Call& again) { body(again); }));
      line["valid"] = right;
      right_ = right_ && right;
    }
    if (world_.rank() != 0) return;
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
  }

  /// The algorithms that can carry out a call and do not send too many messages.
  std::vector<std::string_view> names(const Row& row, std::size_t count) {
    const Collective collective = collective_named(row.name).value();
    const bool blocks = row.splits_input;
    const std::size_t own = blocks ? count / static_cast<std::size_t>(world_.size()) : count;
    const Problem problem =
        problem_of({.collective = collective, .type = DataType::float32, .count = own}, world_.state().transport());
    std::vector<std::string_view> found;
    for (const Algorithm* algorithm : algorithms(collective)) {
      if (!algorithm->applies(problem)) continue;
      const double messages = algorithm->traffic(problem).messages.messages * world_.size();
      if (options_.most_messages > 0 && messages > options_.most_messages) continue;
      found.push_back(algorithm->name);
    }
    return found;
  }

  const ScalingOptions& options_;
  Communicator world_;
  RankBuffers buffers_;
  std::string_view prepared_;  // the collective that has been called
  bool right_ = true;
};

int run(int argc, char** argv) {
  constexpr int all_right = 0, failed = 1;
  std::string text;
  const std::optional<ScalingOptions> options = parse_scaling_options(argc, argv, text);
  if (options) return Scaling(*options).run() ? all_right : failed;
  if (Environment::world_rank() == 0) fmt::print("{}", text);
  return all_right;
}

}  // namespace
}  // namespace chorus::bench

int main(int argc, char** argv) {
  const chorus::Environment mpi;
  try {
    return chorus::bench::run(argc, argv);
  } catch (const std::invalid_argument& refusal) {  // meets every rank alike
    if (chorus::Environment::world_rank() == 0) fmt::print(stderr, "chorus-scaling: {}\n", refusal.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "chorus-scaling: rank {}: {}\n", chorus::Environment::world_rank(), error.what());
    return 1;
  }
}
