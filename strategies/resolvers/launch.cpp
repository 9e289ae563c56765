// SPDX-License-Identifier: Apache-2.0
#include "resolvers/launch.hpp"

#include "resolvers/variables.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <array>
#include <string_view>

namespace chorus {
namespace {

constexpr std::string_view of_mpirun =
    "start the program with the launcher of the MPI library that chorus was built with (pkg-config --variable=mpi "
    "chorus "
    "says which)";

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
    {"SLURM_STEP_NUM_TASKS", "srun has started",
     "srun and the MPI library of the program do not find each other: start it with srun --mpi=pmix (srun --mpi=list "
     "says "
     "which kinds there are; --mpi=pmi2 for MPICH and Intel MPI), with the MPI library that chorus was built with "
     "(pkg-config --variable=mpi chorus), or with its mpirun"},
    {"SLURM_NTASKS", "the Slurm job is for",
     "the program was started without a launcher: start it with srun or mpirun, and with srun -n 1 or mpirun -n 1 "
     "where "
     "one process is meant"},
}};

}  // namespace

void check_launch(int ranks, const EnvironmentVariables& variables) {
  if (ranks != 1) return;
  for (const Launcher& launcher : launchers) {
    const std::optional<int> started = whole_number(variables(launcher.variable).value_or(""));
    if (started == 1) return;
    if (!started || *started == 0) continue;
    throw Error(
        ErrorCode::invalid_environment,
        fmt::format("{} {} processes ({}={}), but MPI knows of this one alone, and each would work for itself: {}",
                    launcher.who, *started, launcher.variable, *started, launcher.remedy));
  }
}

}  // namespace chorus
