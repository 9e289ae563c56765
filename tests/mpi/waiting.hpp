// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "worlds/scoped_variable.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <deque>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// In what, and where, ranks wait for one that does not come.
namespace chorus::test {

/// All ranks of the job. Never freed, as collectives of MPI may be left on it that not all ranks have called.
inline MPI_Comm lasting_comm() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

/// What ranks wait in. Of `native` the buffer must stay, as MPI cannot take back what has begun.
struct Waiting {
  const char* name;
  std::string_view algorithm;
  std::size_t count;
  bool nonblocking = false;
};
inline void PrintTo(const Waiting& waiting, std::ostream* stream) { *stream << waiting.name; }

inline constexpr Waiting waitings[] = {
    {"short", "", 1},          {"long", "", 100'000},           {"ring", "ring", 1000},
    {"native", "native", 100}, {"nonblocking", "", 1000, true},
};

inline void make_call(const Communicator& comm, const Waiting& waiting, const CollectiveOptions& common = {}) {
  static auto* const buffers = new std::deque<std::vector<float>>;
  std::vector<float>& data = buffers->emplace_back(waiting.count, 1.0F);
  CollectiveOptions options = common;
  options.algorithm = waiting.algorithm;
  if (waiting.nonblocking) {
    iallreduce(comm, data, ReduceOp::sum, options).wait();
  } else {
    allreduce(comm, data, ReduceOp::sum, options);
  }
}

/// Which ranks share memory.
struct Placing {
  const char* name;
  const char* node_ranks;
  const char* shared_memory;
};
inline void PrintTo(const Placing& placing, std::ostream* stream) { *stream << placing.name; }

inline constexpr Placing placings[] = {
    {"one_node", "100", "auto"},
    {"nodes_of_2", "2", "auto"},
    {"nodes_of_1", "1", "auto"},
    {"no_shared_memory", "100", "off"},
};

/// A test in each of the one and the other.
class WaitingSomewhere : public testing::TestWithParam<std::tuple<Waiting, Placing>> {
 public:
  [[nodiscard]] static std::string name(const testing::TestParamInfo<ParamType>& info) {
    return std::string(std::get<0>(info.param).name) + "_on_" + std::get<1>(info.param).name;
  }

 protected:
  [[nodiscard]] static const Waiting& waiting() { return std::get<0>(GetParam()); }
  [[nodiscard]] static const Placing& placing() { return std::get<1>(GetParam()); }

  ScopedVariable node_ranks_{"CHORUS_NODE_RANKS", placing().node_ranks};
  ScopedVariable shared_memory_{"CHORUS_SHARED_MEMORY", placing().shared_memory};
};

}  // namespace chorus::test
