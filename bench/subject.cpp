// SPDX-License-Identifier: Apache-2.0
#include "subject.hpp"

#include "algorithm.hpp"
#include "algorithm_names.hpp"
#include "carry_out.hpp"
#include "crowding.hpp"
#include "device/device_memory.hpp"
#include "memory.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/barrier.hpp>
#include <chorus/bcast.hpp>
#include <chorus/error.hpp>
#include <chorus/gpu.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace chorus::bench {
namespace {

bool on_all_ranks(bool here) {
  int all = here ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

/// The largest size whose buffers fit into the memory of every rank.
std::size_t largest_size(const Options& options, const Row& row, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);  // the least input of whole elements for every row
  const Lengths lengths = row.lengths(count, count);
  const std::size_t pairs =
      algorithm_names(row.name, place_of(options.memory)).size() + 1;  // of buffers: "auto" has one, too
  return memory_per_rank() / (pairs * (lengths.in + lengths.out)) * count;
}

Lengths longest(const Row& row, const std::vector<std::size_t>& sizes, int ranks) {
  return row.lengths(sizes.back() / sizeof(float), static_cast<std::size_t>(ranks));
}

/// MPI counts by int: bytes to the blocks of an alltoallw, else elements.
void refuse_what_mpi_cannot_count(const Row& row, const Lengths& lengths) {
  const bool bytes = row.name == "alltoallw";
  const std::size_t most = std::numeric_limits<int>::max() / (bytes ? sizeof(float) : 1);
  const std::size_t elements = std::max(lengths.in, lengths.out);
  if (elements <= most) return;
  throw Refusal(
      fmt::format("--compare: a buffer of {} has {} elements, and MPI counts no more than {}; give a smaller MAX to -m",
                  row.name, elements, most));
}

}  // namespace

OnDevice::OnDevice(const Options& options, const Communicator& world)
    : name(local_gpus().at(static_cast<std::size_t>(current_device())).name) {
  if (options.compare != Peer::nccl) return;
  std::string address;
  if (world.rank() == 0) address = PlainNccl::new_address();
  std::size_t length = address.size();
  bcast(world, std::span(&length, 1), root);
  address.resize(length);
  bcast(world, address, root);
  nccl = std::make_unique<PlainNccl>(address, world.rank(), world.size());
}

std::vector<std::size_t> sizes_of(const Options& options, const Row& row, int ranks) {
  if (!row.has_size) return {0};
  std::vector<std::size_t> sizes;
  for (const std::size_t wanted : doubling_sizes(options.sizes)) {
    const std::size_t size = fitting_size(row, wanted, ranks);
    if (size != 0 || wanted == 0) sizes.push_back(size);
  }
  if (sizes.empty()) {
    throw Refusal(
        fmt::format("-m: {} bytes are less than one float32 for each of the {} ranks", options.sizes.max, ranks));
  }
  if (options.compare == Peer::mpi) refuse_what_mpi_cannot_count(row, longest(row, sizes, ranks));
  if (const std::size_t limit = largest_size(options, row, ranks); sizes.back() > limit) {
    throw Refusal(
        fmt::format("-m: {} bytes are too many: a rank's share of the memory holds the buffers of {} for up to {} "
                    "bytes; give a smaller MAX, or spread the ranks over more nodes",
                    sizes.back(), row.name, limit));
  }
  return sizes;
}

Subject::Subject(const Options& options, const Row& row, const Communicator& world, Console& console)
    : options_(options),
      row_(row),
      world_(world),
      console_(console),
      sizes_(sizes_of(options, row, world.size())),
      crowded_(ranks_share_processors()) {
  barrier(world_);  // sets the communicator up, so that its nodes are known
  if (options.memory != Memory::device) return;
  device_row_ = device_row(row.name);
  on_device_ = std::make_unique<OnDevice>(options, world);
}

std::vector<std::string_view> Subject::algorithms() const {
  return algorithm_names(row_.name, place_of(options_.memory));
}

Call Subject::call_of(std::string_view algorithm, std::size_t bytes) {
  auto own = buffers_.find(algorithm);
  if (own == buffers_.end()) {
    const Lengths most = longest(row_, sizes_, world_.size());
    const bool ordinary = options_.memory == Memory::registered && algorithm == "native";
    const Memory memory = ordinary ? Memory::host : options_.memory;
    own = buffers_.emplace(algorithm, Buffers{Buffer(most.in, memory), Buffer(most.out, memory)}).first;
  }
  const auto ranks = static_cast<std::size_t>(world_.size());
  const Lengths lengths = row_.lengths(bytes / sizeof(float), ranks);
  Call call = {.world = world_,
               .in = own->second.in.first(lengths.in),
               .out = own->second.out.first(lengths.out),
               .options = {}};
  call.options.reproducible = options_.reproducible;
  if (algorithm != "auto") call.options.algorithm = algorithm;
  if (on_device_) call.stream = &on_device_->stream;
  return call;
}

Call Subject::peer_call(std::size_t bytes) {
  const Peer peer = options_.compare.value();
  // The buffers' name, of NCCL not that of the algorithm.
  Call call = call_of(peer == Peer::mpi ? "native" : names_of(peer).heading, bytes);
  if (peer == Peer::nccl) call.nccl = on_device_->nccl.get();
  if (peer == Peer::mpi) call.stream = nullptr;  // MPI returns when it is done
  if (peer == Peer::plain) call.options = {};
  return call;
}

Run Subject::peer_run() const {
  switch (options_.compare.value()) {
    case Peer::mpi:
      return row_.native;
    case Peer::nccl:
      return device_row_->nccl;
    case Peer::plain:
      return run();
  }
  return nullptr;
}

// The communicator is asked by a call: what it remembers afterwards is the answer.
std::string Subject::chosen_algorithm(std::size_t bytes) {
  world_.state().choices.fill({});
  run()(call_of("auto", bytes));
  return std::string(bench::chosen_algorithm(world_));
}

Point Subject::point_of(std::string_view algorithm, std::size_t bytes) const {
  const Problem here = problem_of({}, world_.state().transport());
  return {.collective = std::string(row_.name),
          .algorithm = std::string(algorithm),
          .ranks = here.ranks,
          .nodes = here.nodes,
          .ranks_per_node = here.largest_node,
          .bytes = bytes,
          .device = std::string(device())};
}

bool Subject::is_right(const Call& call, const AnyRun& run) const {
  return on_device_ ? validate_on_device(row_, call, run, on_device_->stream) : row_.validate(call, run);
}

bool Subject::try_out(const Call& call, Point& point) {
  try {
    point.valid = validate(call, run(), point, "chorus");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_supported) throw;
    point.applies = false;
  }
  return point.applies;
}

bool Subject::validate(const Call& call, const AnyRun& run, const Point& point, std::string_view side) {
  const bool right = on_all_ranks(is_right(call, run));
  if (!right) {
    const std::string size = row_.has_size ? fmt::format(" of {} bytes", point.bytes) : "";
    console_.warn(fmt::format("{} {}{}: wrong result of {}", row_.name, point.algorithm, size, side));
  }
  return right;
}

void Subject::note(const Samples& samples, Point& point) const {
  point.us = quartiles(samples.us);
  point.iterations = samples.us.size();
  point.calls_per_iteration = samples.calls;
  point.busbw_mb_s = static_cast<double>(point.bytes) * row_.bus_factor(world_.size()) / point.us.median;
}

Effort Subject::effort(std::size_t bytes, double seconds) const {
  constexpr std::size_t largest_small = 8192;
  const bool small = bytes <= largest_small;
  Effort effort = {.repetitions = options_.iterations.value_or(small ? 10000 : 1000),
                   .warmup = options_.warmup.value_or(small ? 200 : 10),
                   .limit = {},
                   .block_us = crowded_ ? 500.0 : 20.0};  // a rank that waits for a processor takes that long
  if (!options_.iterations) effort.limit = std::chrono::duration<double>(seconds);
  return effort;
}

}  // namespace chorus::bench
