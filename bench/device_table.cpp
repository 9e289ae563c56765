// SPDX-License-Identifier: Apache-2.0
#include "device_table.hpp"

#include "base/bytes.hpp"
#include "base/call.hpp"
#include "block_lists.hpp"
#include "device/device_stream.hpp"
#include "device/plain_nccl.hpp"

#include <chorus/chorus.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace chorus::bench {
namespace {

DeviceSpan<const float> in_of(const Call& call) { return {call.in.data(), call.in.size()}; }
DeviceSpan<float> out_of(const Call& call) { return {call.out.data(), call.out.size()}; }

const std::vector<std::size_t>& counts_of(const Call& call, std::size_t count) { return blocks_of(call, count).counts; }

void by_nccl(const Call& call, Collective collective, std::size_t count) {
  const chorus::Call of_library = {
      .collective = collective, .type = DataType::float32, .op = ReduceOp::sum, .root = root, .count = count};
  call.nccl->queue(of_library, std::as_bytes(call.in).data(), std::as_writable_bytes(call.out).data(),
                   call.stream->get());
}

constexpr DeviceRow rows[] = {
    {.name = "bcast",
     .chorus = [](const Call& call) { bcast(call.world, out_of(call), root, call.stream->get(), call.options); },
     .nccl = [](const Call& call) { by_nccl(call, Collective::bcast, call.out.size()); }},
    {.name = "reduce",
     .chorus =
         [](const Call& call) {
           reduce(call.world, in_of(call), out_of(call), ReduceOp::sum, root, call.stream->get(), call.options);
         },
     .nccl = [](const Call& call) { by_nccl(call, Collective::reduce, call.in.size()); }},
    {.name = "allreduce",
     .chorus =
         [](const Call& call) {
           allreduce(call.world, in_of(call), out_of(call), ReduceOp::sum, call.stream->get(), call.options);
         },
     .nccl = [](const Call& call) { by_nccl(call, Collective::allreduce, call.in.size()); }},
    {.name = "allgather",
     .chorus =
         [](const Call& call) { allgather(call.world, in_of(call), out_of(call), call.stream->get(), call.options); },
     .nccl = [](const Call& call) { by_nccl(call, Collective::allgather, call.in.size()); }},
    {.name = "reduce_scatter_block",
     .chorus =
         [](const Call& call) {
           reduce_scatter_block(call.world, in_of(call), out_of(call), ReduceOp::sum, call.stream->get(), call.options);
         },
     .nccl = [](const Call& call) { by_nccl(call, Collective::reduce_scatter_block, call.out.size()); }},
    {.name = "alltoall",
     .chorus =
         [](const Call& call) { alltoall(call.world, in_of(call), out_of(call), call.stream->get(), call.options); },
     .nccl = [](const Call& call) { by_nccl(call, Collective::alltoall, block_of(call, call.in)); }},
    {.name = "gather",
     .chorus =
         [](const Call& call) {
           gather(call.world, in_of(call), out_of(call), root, call.stream->get(), call.options);
         },
     .nccl = [](const Call& call) { by_nccl(call, Collective::gather, call.in.size()); }},
    {.name = "scatter",
     .chorus =
         [](const Call& call) {
           scatter(call.world, in_of(call), out_of(call), root, call.stream->get(), call.options);
         },
     .nccl = [](const Call& call) { by_nccl(call, Collective::scatter, call.out.size()); }},
    {.name = "allgatherv",
     .chorus =
         [](const Call& call) {
           allgatherv(call.world, in_of(call), out_of(call), counts_of(call, call.in.size()), call.stream->get(),
                      call.options);
         },
     .nccl = nullptr},
    {.name = "gatherv",
     .chorus =
         [](const Call& call) {
           gatherv(call.world, in_of(call), out_of(call), counts_of(call, call.in.size()), root, call.stream->get(),
                   call.options);
         },
     .nccl = nullptr},
    {.name = "scatterv",
     .chorus =
         [](const Call& call) {
           scatterv(call.world, in_of(call), counts_of(call, call.out.size()), out_of(call), root, call.stream->get(),
                    call.options);
         },
     .nccl = nullptr},
    {.name = "alltoallv",
     .chorus =
         [](const Call& call) {
           const auto& counts = counts_of(call, block_of(call, call.in));
           alltoallv(call.world, in_of(call), counts, out_of(call), counts, call.stream->get(), call.options);
         },
     .nccl = nullptr},
    {.name = "reduce_scatter",
     .chorus =
         [](const Call& call) {
           reduce_scatter(call.world, in_of(call), out_of(call), counts_of(call, call.out.size()), ReduceOp::sum,
                          call.stream->get(), call.options);
         },
     .nccl = nullptr},
};

template <class Predicate>
std::vector<Row> rows_with(Predicate predicate) {
  std::vector<Row> some;
  for (const Row& row : table()) {
    const DeviceRow* const found = device_row(row.name);
    if (found != nullptr && predicate(*found)) some.push_back(row);
  }
  return some;
}

}  // namespace

const DeviceRow* device_row(std::string_view collective) {
  const auto* const found = std::ranges::find(rows, collective, &DeviceRow::name);
  return found != std::end(rows) ? found : nullptr;
}

std::span<const Row> device_rows() {
  static const std::vector<Row> all = rows_with([](const DeviceRow&) { return true; });
  return all;
}

std::span<const Row> nccl_rows() {
  static const std::vector<Row> all = rows_with([](const DeviceRow& row) { return row.nccl != nullptr; });
  return all;
}

bool validate_on_device(const Row& row, const Call& call, const AnyRun& run, const DeviceStream& stream) {
  std::vector<float> in(call.in.size()), out(call.out.size());
  const auto on_device = [](std::span<const float> data) {
    return const_cast<std::byte*>(std::as_bytes(data).data());  // the buffers of a call belong to the benchmark
  };
  const Call on_host = {.world = call.world, .in = in, .out = out, .options = {}};
  return row.validate(on_host, [&](const Call&) {
    stream.copy_to_device(on_device(call.in), std::as_bytes(std::span(in)));
    stream.copy_to_device(on_device(call.out), std::as_bytes(std::span(out)));
    run(call);
    synchronize(call.world, stream.get());  // hears of failures, which would let the copies wait for ever
    stream.copy_to_host(std::as_writable_bytes(std::span(out)), on_device(call.out));
  });
}

}  // namespace chorus::bench
