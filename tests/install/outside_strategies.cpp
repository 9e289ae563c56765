// SPDX-License-Identifier: Apache-2.0
// A program of someone who has installed chorus and its strategies: on two ranks each prints how many work together.
#include <chorus/chorus.hpp>
#include <chorus/strategies/mpi_cluster_resolver.hpp>
#include <chorus/strategies/worker_roles.hpp>

#include <cstdio>

int main() {
  const chorus::Environment environment;
  const chorus::MpiClusterResolver resolver(chorus::Communicator::world());
  std::printf("%d workers\n", chorus::worker_count(resolver));
}
