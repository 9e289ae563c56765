// SPDX-License-Identifier: Apache-2.0
#include <chorus/allgather.hpp>
#include <chorus/allgatherv.hpp>
#include <chorus/block_layout.hpp>
#include <chorus/strategies/mpi_cluster_resolver.hpp>

#include <unistd.h>

#include <array>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace chorus {
namespace {

std::string name_of_this_host() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "localhost";
  return name.data();
}

/// `own` of every rank.
std::vector<std::string> of_all_ranks(const Communicator& comm, const std::string& own) {
  std::vector<std::size_t> lengths(static_cast<std::size_t>(comm.size()));
  allgather(comm, std::array{own.size()}, lengths);
  std::vector<char> text(std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}));
  allgatherv(comm, own, text, lengths);
  std::vector<std::string> all;
  auto next = text.begin();
  for (const std::size_t length : lengths) {
    const auto end = next + static_cast<std::ptrdiff_t>(length);
    all.emplace_back(next, end);
    next = end;
  }
  return all;
}

}  // namespace

MpiClusterResolver::MpiClusterResolver(const Communicator& comm, MpiResolverOptions options)
    : ClusterResolver(std::move(options.task)), num_accelerators_(options.num_accelerators) {
  const std::string host = options.host.empty() ? name_of_this_host() : options.host;
  cluster_ = ClusterSpec({{"worker", of_all_ranks(comm, host)}});
  found_ = {.task_type = "worker", .task_id = comm.rank()};
}

}  // namespace chorus
