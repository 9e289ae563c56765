// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/strategies/cluster_resolver.hpp>
#include <chorus/strategies/environment_variables.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace chorus {

/// What a rank tells the others about its place in the cluster. Bytes that travel as they are.
struct RankReport {
  std::uint64_t cluster = 0;              ///< a hash of the cluster it knows
  int workers = 0;                        ///< that compute together, by that cluster
  int id = 0;                             ///< its number among them
  int replicas = 0;                       ///< of its own
  std::array<char, 1024> objection = {};  ///< what keeps it from working; a text that ends in 0, empty if nothing does

  void object(const std::string& why) noexcept;
};

/// What this rank says.
[[nodiscard]] RankReport report_of(const ClusterResolver& resolver, int local_replicas);

/// Throws Error{invalid_argument}, the same text on every rank, unless the reports of all ranks fit together: nobody
/// objects, all know the same cluster with as many workers as there are ranks, each rank is another one, and all have
/// the same number of replicas. `function`: what the program has called.
void check_agreement(std::span<const RankReport> reports, std::string_view function = "startup_line");

/// Who gives a start-up line.
struct Speaker {
  std::string_view strategy;  ///< as the line names it
  std::string_view function;  ///< what the program has called, for errors
};

/// startup_line, in which this rank says `mine`.
[[nodiscard]] std::string agreed_startup_line(const Speaker& speaker, const ClusterResolver& resolver,
                                              const Communicator& comm, const RankReport& mine,
                                              const EnvironmentVariables& variables = process_environment);

}  // namespace chorus
