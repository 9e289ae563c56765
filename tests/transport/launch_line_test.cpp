// SPDX-License-Identifier: Apache-2.0
#include "transport/launch_line.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace chorus {
namespace {

PeerRecord rank_on(const std::string& host, std::size_t cores = 0) {
  PeerRecord rank;
  host.copy(rank.host.data(), rank.host.size() - 1);
  rank.binding.bound = cores > 0;
  for (std::size_t core = 0; core < cores; ++core) rank.binding.cores.set(core);
  return rank;
}

TEST(LaunchLine, SaysWhoHasStartedTheRanksAndWhereTheyAre) {
  EXPECT_EQ(launch_line({.launcher = "srun"},
                        std::vector{rank_on("n1", 1), rank_on("n1", 1), rank_on("n2", 1), rank_on("n2", 1)}),
            "launched by srun: 4 ranks on 2 hosts, 2 on each (n1, n2), each bound to 1 core");
  EXPECT_EQ(launch_line({.launcher = "mpirun of Open MPI"},
                        std::vector{rank_on("n2", 2), rank_on("n1"), rank_on("n2", 1), rank_on("n3", 1)}),
            "launched by mpirun of Open MPI: 4 ranks on 3 hosts, 1 to 2 on each (n2 2, n1 1, n3 1), 3 of them bound to "
            "1 to 2 cores");
  EXPECT_EQ(launch_line({}, std::vector{rank_on("n1"), rank_on("n1")}),
            "launched by a launcher that does not say its name: 2 ranks on 1 host (n1), not bound");
}

TEST(LaunchLine, SaysSoWhereTheProgramIsAlone) {
  EXPECT_EQ(launch_line({}, std::vector{rank_on("n1")}), "launched by hand: 1 rank on 1 host (n1), not bound");
  EXPECT_EQ(launch_line({.job_processes = 4}, std::vector{rank_on("n1")}),
            "launched by hand: 1 rank on 1 host (n1), not bound; the Slurm job is for 4 processes (SLURM_NTASKS=4): "
            "start the program with srun or mpirun to use them all");
}

TEST(LaunchLine, NamesTheFirstAndTheLastOfManyHosts) {
  std::vector<PeerRecord> ranks;
  for (int host = 0; host < 20; ++host) ranks.push_back(rank_on(fmt::format("n{}", host)));
  EXPECT_EQ(launch_line({.launcher = "srun"}, ranks),
            "launched by srun: 20 ranks on 20 hosts, 1 on each (n0, n1, n2, n3, ..., n19), not bound");
}

}  // namespace
}  // namespace chorus
