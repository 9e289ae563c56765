// SPDX-License-Identifier: Apache-2.0
#include "resolvers/launch.hpp"

#include "resolvers/variables.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace chorus {
namespace {

constexpr std::string_view of_mpirun =
    "start the program with the launcher of the MPI library that chorus was built with (pkg-config --variable=mpi "
    "chorus says which)";

constexpr std::string_view of_srun =
    "srun and the MPI library of the program do not find each other: start it with srun --mpi=pmix (srun --mpi=list "
    "says which kinds there are; --mpi=pmi2 for MPICH and Intel MPI), with the MPI library that chorus was built with "
    "(pkg-config --variable=mpi chorus), or with its mpirun";

/// Where a launcher says how many processes it has started, and what to do where MPI knows of one alone.
struct Launcher {
  const char* variable;
  std::string_view who;
  std::string_view remedy;
};

// Those that are nearer to the process come first: mpirun inside a batch job leaves the variables of the job as they
// are.
constexpr std::array<Launcher, 4> launchers = {{
    {"OMPI_COMM_WORLD_SIZE", "Open MPI's launcher has started", of_mpirun},
    {"PMI_SIZE", "a launcher has started", of_mpirun},
    {"SLURM_STEP_NUM_TASKS", "srun has started", of_srun},
    {"SLURM_NTASKS", "a launcher has started this one of a Slurm job for", of_srun},
}};

/// True where nothing has launched the process as one of several: a program that a batch script calls is a single one,
/// whatever the job is for. PMIX_RANK tells nothing: Open MPI sets it in such a program, too.
bool started_by_hand(const EnvironmentVariables& variables) {
  constexpr std::array<const char*, 2> of_launchers = {"SLURM_STEP_ID", "PMI_RANK"};
  return std::ranges::none_of(of_launchers, [&](const char* variable) { return variables(variable).has_value(); });
}

/// The launcher that has started other processes than this one, and how many in all.
struct Launched {
  const Launcher* launcher = nullptr;
  int processes = 1;
};

Launched launched_by(const EnvironmentVariables& variables) {
  for (const Launcher& launcher : launchers) {
    const std::optional<int> started = whole_number(variables(launcher.variable).value_or(""));
    if (started && *started != 0) return {&launcher, *started};
  }
  return {};
}

}  // namespace

void check_launch(int ranks, const EnvironmentVariables& variables) {
  const auto [launcher, processes] = launched_by(variables);
  if (ranks != 1 || processes == 1) return;
  if (launcher == &launchers.back() && started_by_hand(variables)) return;
  throw Error(
      ErrorCode::invalid_environment,
      fmt::format("{} {} processes ({}={}), but MPI knows of this one alone, and each would work for itself: {}",
                  launcher->who, processes, launcher->variable, processes, launcher->remedy));
}

std::string launch_note(int ranks, const EnvironmentVariables& variables) {
  const auto [launcher, processes] = launched_by(variables);
  if (ranks != 1 || processes == 1 || launcher != &launchers.back()) return "";
  return fmt::format(
      "; the Slurm job is for {} processes ({}={}): start the program with srun or mpirun to use them all", processes,
      launcher->variable, processes);
}

}  // namespace chorus
