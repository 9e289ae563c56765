// SPDX-License-Identifier: Apache-2.0
#include "resolvers/agreement.hpp"

#include <fmt/format.h>

#include <chorus/detail/fnv1a.hpp>
#include <chorus/error.hpp>
#include <chorus/strategies/worker_roles.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {
namespace {

[[noreturn]] void reject(std::string_view function, std::string_view why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", function, why));
}

std::string replicas_in_words(int replicas) {
  return replicas == 1 ? "1 local replica" : fmt::format("{} local replicas", replicas);
}

std::uint64_t hash_of(const ClusterSpec& cluster) {
  detail::Fnv1a hash;
  for (const auto& [job, tasks] : cluster.tasks()) {
    hash.add(job);
    hash.add(tasks.addresses().size());
    for (const auto& [index, address] : tasks.addresses()) {
      hash.add(static_cast<std::uint64_t>(index));
      hash.add(address);
    }
  }
  return hash.value();
}

void check_numbers(std::span<const RankReport> reports, std::string_view function) {
  std::vector<std::size_t> rank_of(reports.size(), reports.size());
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    const int id = reports[rank].id;
    if (id < 0 || id >= static_cast<int>(reports.size())) {
      reject(function,
             fmt::format("rank {} is number {} of {} workers: give their tasks the indices 0, 1, ... without a gap",
                         rank, id, reports.size()));
    }
    std::size_t& other = rank_of[static_cast<std::size_t>(id)];
    if (other != reports.size()) {
      reject(function,
             fmt::format("ranks {} and {} are the same worker, number {}: give each process another task index", other,
                         rank, id));
    }
    other = rank;
  }
}

}  // namespace

void RankReport::object(const std::string& why) noexcept {
  objection.fill('\0');
  why.copy(objection.data(), objection.size() - 1);
}

RankReport report_of(const ClusterResolver& resolver, int local_replicas) {
  RankReport report{.replicas = local_replicas};
  try {
    if (local_replicas < 1) {
      throw Error(ErrorCode::invalid_argument, fmt::format("local_replicas is {}: give 1 or more", local_replicas));
    }
    const ClusterSpec cluster = resolver.cluster_spec();
    report.cluster = hash_of(cluster);
    report.workers = worker_count(cluster, resolver.task());
    report.id = id_in_cluster(cluster, resolver.task());
  } catch (const Error& error) {
    report.object(error.message());
  } catch (const std::exception& error) {  // of a resolver of the program's own
    report.object(error.what());
  }
  return report;
}

void check_agreement(std::span<const RankReport> reports, std::string_view function) {
  const RankReport& first = reports.front();
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    const RankReport& report = reports[rank];
    if (report.objection.front() != '\0') {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: on rank {}: {}", function, rank, report.objection.data()));
    }
    if (report.cluster != first.cluster) {
      reject(
          function,
          fmt::format("ranks 0 and {} know different clusters: describe the same cluster to every process, TF_CONFIG's "
                      "\"cluster\" for example",
                      rank));
    }
    if (report.replicas != first.replicas) {
      reject(function, fmt::format("rank 0 has {}, but rank {} has {}: give the strategy as many devices on every rank",
                                   replicas_in_words(first.replicas), rank, report.replicas));
    }
  }
  if (first.workers != static_cast<int>(reports.size())) {
    reject(function,
           fmt::format("the resolver's cluster has {} to compute together, but MPI runs {}: describe all of them to "
                       "every rank, as in "
                       "TF_CONFIG, start as many ranks as workers, with mpirun -n {}, or let MpiClusterResolver "
                       "describe the cluster; "
                       "give an evaluator that is started with them a "
                       "communicator of its own, as by Communicator::split, and the workers one of theirs",
                       first.workers == 1 ? "1 worker" : fmt::format("{} workers", first.workers),
                       reports.size() == 1 ? "1 rank" : fmt::format("{} ranks", reports.size()), first.workers));
  }
  check_numbers(reports, function);
}

}  // namespace chorus
