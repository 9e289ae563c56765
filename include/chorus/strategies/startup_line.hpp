// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/cluster_resolver.hpp>
#include <chorus/strategies/environment_variables.hpp>

#include <string>
#include <string_view>

namespace chorus {

/// Checks that the processes which were started are those that will work together, and says so in one line without a
/// line break:
///
///   chorus: multi-worker mirrored: 4 workers x 2 replicas = 8 replicas in sync on 2 hosts; this is worker 0
///
/// A program that runs alone, without a launcher, in a Slurm job for several processes is told so in the line.
///
/// Shapes   `comm` has the tasks that compute together (chief and workers), each with a resolver of the same cluster;
///          `strategy`, as it stands in the line, and `local_replicas`, 1 or more, are the same on every rank.
/// Order    a collective over `comm`.
/// Throws   Error{invalid_environment} where `variables` show that a launcher has started several processes, but MPI
///          knows of this one alone.
///          Error{invalid_argument} on every rank where the ranks' clusters, tasks or numbers of replicas do not fit
///          together or with `comm`; what a collective throws.
[[nodiscard]] CHORUS_API std::string startup_line(std::string_view strategy, const ClusterResolver& resolver,
                                                  const Communicator& comm, int local_replicas,
                                                  const EnvironmentVariables& variables = process_environment);

/// What a strategy of one process says in a job of several, each of which then computes alone; empty elsewhere, and in
/// every process but one.
[[nodiscard]] CHORUS_API std::string alone_line(std::string_view strategy);

}  // namespace chorus
