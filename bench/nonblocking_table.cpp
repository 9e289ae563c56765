// SPDX-License-Identifier: Apache-2.0
#include "nonblocking_table.hpp"

#include "block_lists.hpp"

#include <chorus/chorus.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace chorus::bench {
namespace {

const std::vector<std::size_t>& counts_of(const Call& call, std::span<const float> block) {
  return blocks_of(call, block.size()).counts;
}

constexpr NonblockingRow rows[] = {
    {.name = "barrier",
     .start = [](const Call& call) { return ibarrier(call.world, call.options); },
     .prepare = [](const Call& call) { return barrier_init(call.world, call.options); },
     .native = [](const Call&, MPI_Request& request) { MPI_Ibarrier(MPI_COMM_WORLD, &request); }},
    {.name = "bcast",
     .start = [](const Call& call) { return ibcast(call.world, call.out, root, call.options); },
     .prepare = [](const Call& call) { return bcast_init(call.world, call.out, root, call.options); },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Ibcast(call.out.data(), count_of(call.out), MPI_FLOAT, root, MPI_COMM_WORLD, &request);
         }},
    {.name = "reduce",
     .start =
         [](const Call& call) { return ireduce(call.world, call.in, call.out, ReduceOp::sum, root, call.options); },
     .prepare =
         [](const Call& call) { return reduce_init(call.world, call.in, call.out, ReduceOp::sum, root, call.options); },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Ireduce(call.in.data(), call.out.data(), count_of(call.in), MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD,
                       &request);
         }},
    {.name = "allreduce",
     .start = [](const Call& call) { return iallreduce(call.world, call.in, call.out, ReduceOp::sum, call.options); },
     .prepare =
         [](const Call& call) { return allreduce_init(call.world, call.in, call.out, ReduceOp::sum, call.options); },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Iallreduce(call.in.data(), call.out.data(), count_of(call.in), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                          &request);
         }},
    {.name = "reduce_scatter_block",
     .start =
         [](const Call& call) {
           return ireduce_scatter_block(call.world, call.in, call.out, ReduceOp::sum, call.options);
         },
     .prepare =
         [](const Call& call) {
           return reduce_scatter_block_init(call.world, call.in, call.out, ReduceOp::sum, call.options);
         },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Ireduce_scatter_block(call.in.data(), call.out.data(), count_of(call.out), MPI_FLOAT, MPI_SUM,
                                     MPI_COMM_WORLD, &request);
         }},
    {.name = "scan",
     .start = [](const Call& call) { return iscan(call.world, call.in, call.out, ReduceOp::sum, call.options); },
     .prepare = [](const Call& call) { return scan_init(call.world, call.in, call.out, ReduceOp::sum, call.options); },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Iscan(call.in.data(), call.out.data(), count_of(call.in), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
         }},
    {.name = "exscan",
     .start = [](const Call& call) { return iexscan(call.world, call.in, call.out, ReduceOp::sum, call.options); },
     .prepare =
         [](const Call& call) { return exscan_init(call.world, call.in, call.out, ReduceOp::sum, call.options); },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Iexscan(call.in.data(), call.out.data(), count_of(call.in), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                       &request);
         }},
    {.name = "allgather",
     .start = [](const Call& call) { return iallgather(call.world, call.in, call.out, call.options); },
     .prepare = [](const Call& call) { return allgather_init(call.world, call.in, call.out, call.options); },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Iallgather(call.in.data(), count_of(call.in), MPI_FLOAT, call.out.data(), count_of(call.in), MPI_FLOAT,
                          MPI_COMM_WORLD, &request);
         }},
    {.name = "alltoall",
     .start = [](const Call& call) { return ialltoall(call.world, call.in, call.out, call.options); },
     .prepare = [](const Call& call) { return alltoall_init(call.world, call.in, call.out, call.options); },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Ialltoall(call.in.data(), block_count_of(call, call.in), MPI_FLOAT, call.out.data(),
                         block_count_of(call, call.out), MPI_FLOAT, MPI_COMM_WORLD, &request);
         }},
    {.name = "gather",
     .start = [](const Call& call) { return igather(call.world, call.in, call.out, root, call.options); },
     .prepare = [](const Call& call) { return gather_init(call.world, call.in, call.out, root, call.options); },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Igather(call.in.data(), count_of(call.in), MPI_FLOAT, call.out.data(), count_of(call.in), MPI_FLOAT,
                       root, MPI_COMM_WORLD, &request);
         }},
    {.name = "scatter",
     .start = [](const Call& call) { return iscatter(call.world, call.in, call.out, root, call.options); },
     .prepare = [](const Call& call) { return scatter_init(call.world, call.in, call.out, root, call.options); },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Iscatter(call.in.data(), count_of(call.out), MPI_FLOAT, call.out.data(), count_of(call.out), MPI_FLOAT,
                        root, MPI_COMM_WORLD, &request);
         }},
    {.name = "allgatherv",
     .start =
         [](const Call& call) {
           return iallgatherv(call.world, call.in, call.out, counts_of(call, call.in), call.options);
         },
     .prepare =
         [](const Call& call) {
           return allgatherv_init(call.world, call.in, call.out, counts_of(call, call.in), call.options);
         },
     .native =
         [](const Call& call, MPI_Request& request) {
           const BlockLists& blocks = blocks_of(call, call.in.size());
           MPI_Iallgatherv(call.in.data(), count_of(call.in), MPI_FLOAT, call.out.data(), blocks.mpi_counts.data(),
                           blocks.mpi_displacements.data(), MPI_FLOAT, MPI_COMM_WORLD, &request);
         }},
    {.name = "gatherv",
     .start =
         [](const Call& call) {
           return igatherv(call.world, call.in, call.out, counts_of(call, call.in), root, call.options);
         },
     .prepare =
         [](const Call& call) {
           return gatherv_init(call.world, call.in, call.out, counts_of(call, call.in), root, call.options);
         },
     .native =
         [](const Call& call, MPI_Request& request) {
           const BlockLists& blocks = blocks_of(call, call.in.size());
           MPI_Igatherv(call.in.data(), count_of(call.in), MPI_FLOAT, call.out.data(), blocks.mpi_counts.data(),
                        blocks.mpi_displacements.data(), MPI_FLOAT, root, MPI_COMM_WORLD, &request);
         }},
    {.name = "scatterv",
     .start =
         [](const Call& call) {
           return iscatterv(call.world, call.in, counts_of(call, call.out), call.out, root, call.options);
         },
     .prepare =
         [](const Call& call) {
           return scatterv_init(call.world, call.in, counts_of(call, call.out), call.out, root, call.options);
         },
     .native =
         [](const Call& call, MPI_Request& request) {
           const BlockLists& blocks = blocks_of(call, call.out.size());
           MPI_Iscatterv(call.in.data(), blocks.mpi_counts.data(), blocks.mpi_displacements.data(), MPI_FLOAT,
                         call.out.data(), count_of(call.out), MPI_FLOAT, root, MPI_COMM_WORLD, &request);
         }},
    {.name = "alltoallv",
     .start =
         [](const Call& call) {
           const auto& counts = blocks_of(call, block_of(call, call.in)).counts;
           return ialltoallv(call.world, call.in, counts, call.out, counts, call.options);
         },
     .prepare =
         [](const Call& call) {
           const auto& counts = blocks_of(call, block_of(call, call.in)).counts;
           return alltoallv_init(call.world, call.in, counts, call.out, counts, call.options);
         },
     .native =
         [](const Call& call, MPI_Request& request) {
           const BlockLists& blocks = blocks_of(call, block_of(call, call.in));
           MPI_Ialltoallv(call.in.data(), blocks.mpi_counts.data(), blocks.mpi_displacements.data(), MPI_FLOAT,
                          call.out.data(), blocks.mpi_counts.data(), blocks.mpi_displacements.data(), MPI_FLOAT,
                          MPI_COMM_WORLD, &request);
         }},
    {.name = "alltoallw",
     .start =
         [](const Call& call) {
           const PlacedBlocks& blocks = placed_blocks_of(call);
           return ialltoallw(call.world, blocks.in, blocks.out, call.options);
         },
     .prepare =
         [](const Call& call) {
           const PlacedBlocks& blocks = placed_blocks_of(call);
           return alltoallw_init(call.world, blocks.in, blocks.out, call.options);
         },
     .native =
         [](const Call& call, MPI_Request& request) {
           const PlacedBlocks& blocks = placed_blocks_of(call);
           MPI_Ialltoallw(call.in.data(), blocks.mpi_counts.data(), blocks.mpi_displacements.data(),
                          blocks.mpi_types.data(), call.out.data(), blocks.mpi_counts.data(),
                          blocks.mpi_displacements.data(), blocks.mpi_types.data(), MPI_COMM_WORLD, &request);
         }},
    {.name = "reduce_scatter",
     .start =
         [](const Call& call) {
           return ireduce_scatter(call.world, call.in, call.out, counts_of(call, call.out), ReduceOp::sum,
                                  call.options);
         },
     .prepare =
         [](const Call& call) {
           return reduce_scatter_init(call.world, call.in, call.out, counts_of(call, call.out), ReduceOp::sum,
                                      call.options);
         },
     .native =
         [](const Call& call, MPI_Request& request) {
           MPI_Ireduce_scatter(call.in.data(), call.out.data(), blocks_of(call, call.out.size()).mpi_counts.data(),
                               MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
         }},
};

}  // namespace

const NonblockingRow& nonblocking_row(std::string_view collective) {
  return *std::ranges::find(rows, collective, &NonblockingRow::name);
}

}  // namespace chorus::bench
