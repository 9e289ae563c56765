// SPDX-License-Identifier: Apache-2.0
#include "table.hpp"

#include <chorus/chorus.hpp>

#include <mpi.h>

#include "block_lists.hpp"
#include "validate.hpp"

namespace chorus::bench {
namespace {

constexpr Row rows[] = {
    {.name = "barrier",
     .title = "Barrier",
     .has_size = false,
     .splits_input = false,
     .lengths = [](std::size_t, std::size_t) { return Lengths{}; },
     .chorus = [](const Call& call) { barrier(call.world, call.options); },
     .native = [](const Call&) { MPI_Barrier(MPI_COMM_WORLD); },
     .validate = validate_barrier,
     .bus_factor = [](double) { return 0.0; }},
    {.name = "bcast",
     .title = "Broadcast",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t) { return Lengths{.in = 0, .out = count}; },
     .chorus = [](const Call& call) { bcast(call.world, call.out, root, call.options); },
     .native =
         [](const Call& call) { MPI_Bcast(call.out.data(), count_of(call.out), MPI_FLOAT, root, MPI_COMM_WORLD); },
     .validate = validate_bcast,
     .bus_factor = [](double) { return 1.0; }},
    {.name = "reduce",
     .title = "Reduce",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t) { return Lengths{.in = count, .out = count}; },
     .chorus = [](const Call& call) { reduce(call.world, call.in, call.out, ReduceOp::sum, root, call.options); },
     .native =
         [](const Call& call) {
           MPI_Reduce(call.in.data(), call.out.data(), count_of(call.in), MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
         },
     .validate = validate_reduce,
     .bus_factor = [](double) { return 1.0; }},
    {.name = "allreduce",
     .title = "Allreduce",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t) { return Lengths{.in = count, .out = count}; },
     .chorus = [](const Call& call) { allreduce(call.world, call.in, call.out, ReduceOp::sum, call.options); },
     .native =
         [](const Call& call) {
           MPI_Allreduce(call.in.data(), call.out.data(), count_of(call.in), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
         },
     .validate = validate_allreduce,
     .bus_factor = [](double ranks) { return 2 * (ranks - 1) / ranks; }},
    {.name = "allgather",
     .title = "Allgather",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count, .out = count * ranks}; },
     .chorus = [](const Call& call) { allgather(call.world, call.in, call.out, call.options); },
     .native =
         [](const Call& call) {
           MPI_Allgather(call.in.data(), count_of(call.in), MPI_FLOAT, call.out.data(), count_of(call.in), MPI_FLOAT,
                         MPI_COMM_WORLD);
         },
     .validate = validate_allgather,
     .bus_factor = [](double ranks) { return ranks - 1; }},
    {.name = "reduce_scatter_block",
     .title = "Reduce_scatter_block",
     .has_size = true,
     .splits_input = true,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count, .out = count / ranks}; },
     .chorus =
         [](const Call& call) { reduce_scatter_block(call.world, call.in, call.out, ReduceOp::sum, call.options); },
     .native =
         [](const Call& call) {
           MPI_Reduce_scatter_block(call.in.data(), call.out.data(), count_of(call.out), MPI_FLOAT, MPI_SUM,
                                    MPI_COMM_WORLD);
         },
     .validate = validate_reduce_scatter_block,
     .bus_factor = [](double ranks) { return (ranks - 1) / ranks; }},
    {.name = "alltoall",
     .title = "All-to-All",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count * ranks, .out = count * ranks}; },
     .chorus = [](const Call& call) { alltoall(call.world, call.in, call.out, call.options); },
     .native =
         [](const Call& call) {
           MPI_Alltoall(call.in.data(), block_count_of(call, call.in), MPI_FLOAT, call.out.data(),
                        block_count_of(call, call.out), MPI_FLOAT, MPI_COMM_WORLD);
         },
     .validate = validate_alltoall,
     .bus_factor = [](double ranks) { return ranks - 1; }},
    {.name = "gather",
     .title = "Gather",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count, .out = count * ranks}; },
     .chorus = [](const Call& call) { gather(call.world, call.in, call.out, root, call.options); },
     .native =
         [](const Call& call) {
           MPI_Gather(call.in.data(), count_of(call.in), MPI_FLOAT, call.out.data(), count_of(call.in), MPI_FLOAT, root,
                      MPI_COMM_WORLD);
         },
     .validate = validate_gather,
     .bus_factor = [](double ranks) { return ranks - 1; }},
    {.name = "scatter",
     .title = "Scatter",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count * ranks, .out = count}; },
     .chorus = [](const Call& call) { scatter(call.world, call.in, call.out, root, call.options); },
     .native =
         [](const Call& call) {
           MPI_Scatter(call.in.data(), count_of(call.out), MPI_FLOAT, call.out.data(), count_of(call.out), MPI_FLOAT,
                       root, MPI_COMM_WORLD);
         },
     .validate = validate_scatter,
     .bus_factor = [](double ranks) { return ranks - 1; }},
    {.name = "scan",
     .title = "Scan",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t) { return Lengths{.in = count, .out = count}; },
     .chorus = [](const Call& call) { scan(call.world, call.in, call.out, ReduceOp::sum, call.options); },
     .native =
         [](const Call& call) {
           MPI_Scan(call.in.data(), call.out.data(), count_of(call.in), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
         },
     .validate = validate_scan,
     .bus_factor = [](double) { return 1.0; }},
    {.name = "exscan",
     .title = "Exscan",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t) { return Lengths{.in = count, .out = count}; },
     .chorus = [](const Call& call) { exscan(call.world, call.in, call.out, ReduceOp::sum, call.options); },
     .native =
         [](const Call& call) {
           MPI_Exscan(call.in.data(), call.out.data(), count_of(call.in), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
         },
     .validate = validate_exscan,
     .bus_factor = [](double) { return 1.0; }},
    {.name = "allgatherv",
     .title = "Allgatherv",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count, .out = count * ranks}; },
     .chorus =
         [](const Call& call) {
           allgatherv(call.world, call.in, call.out, blocks_of(call, call.in.size()).counts, call.options);
         },
     .native =
         [](const Call& call) {
           const BlockLists& blocks = blocks_of(call, call.in.size());
           MPI_Allgatherv(call.in.data(), count_of(call.in), MPI_FLOAT, call.out.data(), blocks.mpi_counts.data(),
                          blocks.mpi_displacements.data(), MPI_FLOAT, MPI_COMM_WORLD);
         },
     .validate = validate_allgather,
     .bus_factor = [](double ranks) { return ranks - 1; }},
    {.name = "gatherv",
     .title = "Gatherv",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count, .out = count * ranks}; },
     .chorus =
         [](const Call& call) {
           gatherv(call.world, call.in, call.out, blocks_of(call, call.in.size()).counts, root, call.options);
         },
     .native =
         [](const Call& call) {
           const BlockLists& blocks = blocks_of(call, call.in.size());
           MPI_Gatherv(call.in.data(), count_of(call.in), MPI_FLOAT, call.out.data(), blocks.mpi_counts.data(),
                       blocks.mpi_displacements.data(), MPI_FLOAT, root, MPI_COMM_WORLD);
         },
     .validate = validate_gather,
     .bus_factor = [](double ranks) { return ranks - 1; }},
    {.name = "scatterv",
     .title = "Scatterv",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count * ranks, .out = count}; },
     .chorus =
         [](const Call& call) {
           scatterv(call.world, call.in, blocks_of(call, call.out.size()).counts, call.out, root, call.options);
         },
     .native =
         [](const Call& call) {
           const BlockLists& blocks = blocks_of(call, call.out.size());
           MPI_Scatterv(call.in.data(), blocks.mpi_counts.data(), blocks.mpi_displacements.data(), MPI_FLOAT,
                        call.out.data(), count_of(call.out), MPI_FLOAT, root, MPI_COMM_WORLD);
         },
     .validate = validate_scatter,
     .bus_factor = [](double ranks) { return ranks - 1; }},
    {.name = "alltoallv",
     .title = "All-to-Allv",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count * ranks, .out = count * ranks}; },
     .chorus =
         [](const Call& call) {
           const auto& counts = blocks_of(call, block_of(call, call.in)).counts;
           alltoallv(call.world, call.in, counts, call.out, counts, call.options);
         },
     .native =
         [](const Call& call) {
           const BlockLists& blocks = blocks_of(call, block_of(call, call.in));
           MPI_Alltoallv(call.in.data(), blocks.mpi_counts.data(), blocks.mpi_displacements.data(), MPI_FLOAT,
                         call.out.data(), blocks.mpi_counts.data(), blocks.mpi_displacements.data(), MPI_FLOAT,
                         MPI_COMM_WORLD);
         },
     .validate = validate_alltoall,
     .bus_factor = [](double ranks) { return ranks - 1; }},
    {.name = "alltoallw",
     .title = "All-to-Allw",
     .has_size = true,
     .splits_input = false,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count * ranks, .out = count * ranks}; },
     .chorus =
         [](const Call& call) {
           const PlacedBlocks& blocks = placed_blocks_of(call);
           alltoallw(call.world, blocks.in, blocks.out, call.options);
         },
     .native =
         [](const Call& call) {
           const PlacedBlocks& blocks = placed_blocks_of(call);
           MPI_Alltoallw(call.in.data(), blocks.mpi_counts.data(), blocks.mpi_displacements.data(),
                         blocks.mpi_types.data(), call.out.data(), blocks.mpi_counts.data(),
                         blocks.mpi_displacements.data(), blocks.mpi_types.data(), MPI_COMM_WORLD);
         },
     .validate = validate_alltoall,
     .bus_factor = [](double ranks) { return ranks - 1; }},
    {.name = "reduce_scatter",
     .title = "Reduce_scatter",
     .has_size = true,
     .splits_input = true,
     .lengths = [](std::size_t count, std::size_t ranks) { return Lengths{.in = count, .out = count / ranks}; },
     .chorus =
         [](const Call& call) {
           reduce_scatter(call.world, call.in, call.out, blocks_of(call, call.out.size()).counts, ReduceOp::sum,
                          call.options);
         },
     .native =
         [](const Call& call) {
           MPI_Reduce_scatter(call.in.data(), call.out.data(), blocks_of(call, call.out.size()).mpi_counts.data(),
                              MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
         },
     .validate = validate_reduce_scatter_block,
     .bus_factor = [](double ranks) { return (ranks - 1) / ranks; }},
};

}  // namespace

std::span<const Row> table() { return rows; }

std::size_t fitting_size(const Row& row, std::size_t bytes, int ranks) {
  if (!row.has_size) return 0;
  const std::size_t unit = sizeof(float) * (row.splits_input ? static_cast<std::size_t>(ranks) : 1);
  return bytes / unit * unit;
}

}  // namespace chorus::bench
