// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"
#include "options.hpp"

#include <chorus/communicator.hpp>
#include <chorus/environment.hpp>
#include <chorus/error.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace {

using namespace chorus::bench;

constexpr int all_right = 0, failed = 1, refused = 2;

/// MPI as most programs start it, by MPI_Init: what chorus::Environment asks for makes Open MPI's short calls take up
/// to twice as long. Where other threads call MPI, that starts it.
class PlainMpi {
 public:
  explicit PlainMpi(std::string_view measurement) {
    if (measurement == "strategies" || std::getenv("CHORUS_PROGRESS_THREAD") != nullptr) return;
    MPI_Init(nullptr, nullptr);
  }
  PlainMpi(const PlainMpi&) = delete;
  PlainMpi& operator=(const PlainMpi&) = delete;
  ~PlainMpi() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) MPI_Finalize();
  }
};

int run(int argc, char** argv, const chorus::Communicator& world) {
  std::string text;
  const std::optional<Options> options = parse_options(argc, argv, text);
  if (options) return run_benchmark(*options, world) ? all_right : failed;
  if (world.rank() == 0) fmt::print("{}", text);
  return all_right;
}

// Refusals meet every rank alike, so that all leave together.
int refuse(int rank, const std::string& why) {
  if (rank == 0) fmt::print(stderr, "chorus-bench: {}\n", why);
  return refused;
}

// Other errors have perhaps met this rank only: the others must not wait for ever.
int abort_all(const std::string& why) {
  std::fflush(stdout);
  fmt::print(stderr, "chorus-bench: {}\n", why);
  MPI_Abort(MPI_COMM_WORLD, failed);
  return failed;
}

}  // namespace

int main(int argc, char** argv) {
  const PlainMpi plain(argc > 1 ? argv[1] : "");
  const chorus::Environment mpi;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    return run(argc, argv, chorus::Communicator::world());
  } catch (const Refusal& refusal) {
    return refuse(rank, refusal.what());
  } catch (const chorus::Error& error) {
    const bool wrong_environment = error.code() == chorus::ErrorCode::invalid_environment;
    return wrong_environment ? refuse(rank, error.message()) : abort_all(error.message());
  } catch (const std::exception& error) {
    return abort_all(fmt::format("rank {}: {}", rank, error.what()));
  }
}
