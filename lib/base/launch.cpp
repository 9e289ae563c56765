// SPDX-License-Identifier: Apache-2.0
#include <chorus/detail/launch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace chorus::detail {
namespace {

constexpr std::string_view of_mpirun =
    "start the program with the launcher of the MPI library that chorus was built with (pkg-config --variable=mpi "
    "chorus says which)";

constexpr std::string_view of_srun =
    "srun and the MPI library of the program do not find each other: start it with srun --mpi=pmix (srun --mpi=list "
    "says which kinds there are; --mpi=pmi2 for MPICH and Intel MPI), with the MPI library that chorus was built with "
    "(pkg-config --variable=mpi chorus), or with its mpirun";

/// Where a launcher says how many processes it has started, and which of them this is.
struct Launcher {
  std::string_view who;
  std::string_view remedy;
  const char* processes;
  const char* process;
  const char* mark = nullptr;  ///< a variable that it sets, and others do not; null: `processes` is enough
};

// Those that are nearer to the process come first: mpirun inside a batch job leaves the variables of the job as they
// are, and Hydra, the mpirun of MPICH, starts its own helpers by srun there.
constexpr std::array<Launcher, 7> launchers = {{
    {"mpirun of Open MPI", of_mpirun, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"mpirun of MPICH or Intel MPI", of_mpirun, "PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID"},
    {"srun", of_srun, "PMI_SIZE", "PMI_RANK", "SLURM_STEP_ID"},
    {"a launcher with PMI", of_mpirun, "PMI_SIZE", "PMI_RANK"},
    {"srun", of_srun, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
    {"a launcher in a Slurm job", of_srun, "SLURM_NTASKS", "SLURM_PROCID", "SLURM_STEP_ID"},
    {"a launcher in a Slurm job", of_srun, "SLURM_NTASKS", "SLURM_PROCID", "PMI_RANK"},
}};

/// The number, 1 or more, in a variable; 0 where there is none.
int number_in(const Launch::Variables& variables, const char* name) {
  const std::string text = variables(name).value_or("");
  const char* const end = text.data() + text.size();
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::max(number, 0) : 0;
}

/// The number at the beginning of `text`, which is taken off; 0 where there is none.
int take_number(std::string_view& text) {
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return error == std::errc() ? number : 0;
}

/// How many tasks a node has by a text of Slurm's such as "3(x2),2", which are 3, 3 and 2; 0 where it does not say.
int tasks_of_node(std::string_view text, int node) {
  for (int nodes = 0; !text.empty();) {
    const int tasks = take_number(text);
    int alike = 1;
    if (text.starts_with("(x")) {
      text.remove_prefix(2);
      alike = take_number(text);
      if (text.starts_with(')')) text.remove_prefix(1);
    }
    if (tasks < 1 || alike < 1 || (!text.empty() && text.front() != ',')) return 0;
    if (node - nodes < alike) return tasks;
    nodes += alike;
    if (!text.empty()) text.remove_prefix(1);
  }
  return 0;
}

std::optional<std::string> variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

std::string setting(const char* name, int value) { return fmt::format("{}={}", name, value); }

}  // namespace

Launch Launch::found_in(const Variables& variables) {
  Launch launch;
  for (const Launcher& one : launchers) {
    launch.processes = number_in(variables, one.processes);
    if (launch.processes == 0 || (one.mark != nullptr && !variables(one.mark))) continue;
    launch.launcher = one.who;
    launch.remedy = one.remedy;
    launch.evidence = setting(one.processes, launch.processes);
    launch.process = number_in(variables, one.process);
    return launch;
  }
  // PMIx numbers the processes, but does not count them here. Open MPI sets 0 in a program that nobody has launched.
  if (const int process = number_in(variables, "PMIX_RANK"); process > 0) {
    return {.launcher = "a launcher with PMIx",
            .evidence = setting("PMIX_RANK", process),
            .remedy = std::string(of_mpirun),
            .processes = process + 1,
            .process = process,
            .counted = false};
  }
  return {.job_processes = number_in(variables, "SLURM_NTASKS")};
}

Launch Launch::of_this_process() { return found_in(variable); }

int Launch::found_here(const Variables& variables) {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    if (const int processes = number_in(variables, name); processes > 0) return processes;
  }
  if (!variables("SLURM_NODEID")) return 0;
  return tasks_of_node(variables("SLURM_STEP_TASKS_PER_NODE").value_or(""), number_in(variables, "SLURM_NODEID"));
}

int Launch::beside_this_process() { return found_here(variable); }

std::string Launch::mismatch(int ranks) const {
  if (ranks >= processes) return {};
  return fmt::format(
      "{} has started {}{} processes ({}), but MPI knows of {}: {}", launcher, counted ? "" : "at least ", processes,
      evidence, ranks == 1 ? "this one alone, and each would work for itself" : fmt::format("{} of them only", ranks),
      remedy);
}

bool Launch::speaks(int ranks) const noexcept { return process == (counted ? 0 : ranks); }

std::string Launch::alone_in_job(int ranks) const {
  if (ranks != 1 || job_processes <= 1) return {};
  return fmt::format("the Slurm job is for {} processes ({}): start the program with srun or mpirun to use them all",
                     job_processes, setting("SLURM_NTASKS", job_processes));
}

}  // namespace chorus::detail
