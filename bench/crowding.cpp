// SPDX-License-Identifier: Apache-2.0
#include "crowding.hpp"

#include <mpi.h>
#include <sched.h>

#include <cstdlib>
#include <string_view>

namespace chorus::bench {
namespace {

Company company_on_this_node() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  cpu_set_t allowed[8];  // 8192 processors: the kernel refuses a mask that is shorter than its own
  CPU_ZERO_S(sizeof allowed, allowed);
  if (sched_getaffinity(0, sizeof allowed, allowed) != 0) CPU_SET_S(0, sizeof allowed, allowed);
  MPI_Allreduce(MPI_IN_PLACE, allowed, sizeof allowed, MPI_BYTE, MPI_BOR, node);
  Company company;
  MPI_Comm_size(node, &company.ranks);
  MPI_Comm_free(&node);
  company.processors = CPU_COUNT_S(sizeof allowed, allowed);
  return company;
}

ProgressThread progress_thread() {
  const char* const wish = std::getenv("CHORUS_PROGRESS_THREAD");
  if (wish == nullptr || std::string_view(wish) != "1") return ProgressThread::off;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE ? ProgressThread::on : ProgressThread::impossible;
}

}  // namespace

Company company_of_the_ranks() {
  Company company = company_on_this_node();
  struct {
    double ranks_per_processor;
    int rank;
  } fullest = {static_cast<double>(company.ranks) / company.processors, 0};
  MPI_Comm_rank(MPI_COMM_WORLD, &fullest.rank);
  MPI_Allreduce(MPI_IN_PLACE, &fullest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  int numbers[] = {company.ranks, company.processors};
  MPI_Bcast(numbers, 2, MPI_INT, fullest.rank, MPI_COMM_WORLD);
  return {.ranks = numbers[0], .processors = numbers[1], .progress_thread = progress_thread()};
}

bool ranks_share_processors() {
  const Company company = company_of_the_ranks();
  return company.ranks > company.processors;
}

}  // namespace chorus::bench
