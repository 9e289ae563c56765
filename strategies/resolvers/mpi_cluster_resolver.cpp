// SPDX-License-Identifier: Apache-2.0
#include "texts_of_all.hpp"

#include <chorus/strategies/mpi_cluster_resolver.hpp>

#include <unistd.h>

#include <array>
#include <utility>

namespace chorus {
namespace {

std::string name_of_this_host() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') return "localhost";
  return name.data();
}

}  // namespace

MpiClusterResolver::MpiClusterResolver(const Communicator& comm, MpiResolverOptions options)
    : ClusterResolver(std::move(options.task)), num_accelerators_(options.num_accelerators) {
  const std::string host = options.host.empty() ? name_of_this_host() : options.host;
  cluster_ = ClusterSpec({{"worker", detail::texts_of_all(comm, host)}});
  found_ = {.task_type = "worker", .task_id = comm.rank()};
}

}  // namespace chorus
