// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <functional>
#include <optional>
#include <string>

namespace chorus::detail {

/// How the processes of this program were started, as environment variables say. MPI may know of fewer: where the
/// launcher and the MPI library do not find each other, each process is a program of one rank.
struct Launch {
  /// The value of an environment variable; nothing where it is not set.
  using Variables = std::function<std::optional<std::string>(const std::string& name)>;

  std::string launcher{};  ///< who has started them, such as "srun"; empty: nobody says so
  std::string evidence{};  ///< the variable that says how many they are, with its value
  std::string remedy{};    ///< what to do where MPI knows of fewer
  int processes = 1;       ///< how many they are at least
  int process = 0;         ///< which of them this is
  bool counted = true;     ///< they are no more; else nobody says how many, and `processes` are those up to this one
  int job_processes = 1;   ///< how many the Slurm job is for, where nobody has started them

  [[nodiscard]] CHORUS_API static Launch found_in(const Variables& variables);
  [[nodiscard]] CHORUS_API static Launch of_this_process();
  /// How many processes the launcher has started on this host; 0: nobody says so.
  [[nodiscard]] CHORUS_API static int found_here(const Variables& variables);
  [[nodiscard]] CHORUS_API static int beside_this_process();

  /// What is wrong where the job has `ranks` by MPI's word; empty where nothing is.
  [[nodiscard]] CHORUS_API std::string mismatch(int ranks) const;
  /// Whether this process is the one of them to say so: the first that can tell.
  [[nodiscard]] CHORUS_API bool speaks(int ranks) const noexcept;
  /// That this is a program of `ranks` ranks, alone in a Slurm job for more; empty where it is not. It may be meant so.
  [[nodiscard]] CHORUS_API std::string alone_in_job(int ranks) const;
};

}  // namespace chorus::detail
