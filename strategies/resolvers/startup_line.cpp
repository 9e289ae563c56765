// SPDX-License-Identifier: Apache-2.0
#include <chorus/allgather.hpp>
#include <chorus/detail/launch.hpp>
#include <chorus/environment.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/startup_line.hpp>

#include "resolvers/agreement.hpp"
#include "resolvers/startup_text.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace chorus {

std::string startup_line(std::string_view strategy, const ClusterResolver& resolver, const Communicator& comm,
                         int local_replicas, const EnvironmentVariables& variables) {
  return agreed_startup_line({strategy, "startup_line"}, resolver, comm, report_of(resolver, local_replicas),
                             variables);
}

std::string agreed_startup_line(const Speaker& speaker, const ClusterResolver& resolver, const Communicator& comm,
                                const RankReport& mine, const EnvironmentVariables& variables) {
  const int ranks = std::max(comm.size(), Environment::world_size());
  const auto launch = detail::Launch::found_in(variables);
  if (const std::string mismatch = launch.mismatch(ranks); ranks == 1 && !mismatch.empty()) {
    throw Error(ErrorCode::invalid_environment, mismatch);
  }
  std::vector<RankReport> reports(static_cast<std::size_t>(comm.size()));
  allgather(comm, std::span(&mine, 1), reports);
  check_agreement(reports, speaker.function);
  const std::string alone = launch.alone_in_job(ranks);
  return startup_text(speaker.strategy, resolver, mine.replicas) + (alone.empty() ? "" : "; " + alone);
}

std::string alone_line(std::string_view strategy) {
  if (Environment::world_size() == 1 || Environment::world_rank() != 0) return {};
  return "chorus: " + std::string(strategy) + ": a strategy of one process, and there are " +
         std::to_string(Environment::world_size()) +
         " ranks of MPI: each that has one computes alone, with all the data; for one computation of all ranks take "
         "MultiWorkerMirroredStrategy";
}

}  // namespace chorus
