// SPDX-License-Identifier: Apache-2.0
#include "validate.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

namespace chorus::bench {
namespace {

// What rank `rank` gives as element `index`: factor(rank) * position(index) + offset(rank). The periods are primes, so
// that blocks of a power of two that change places are noticed; nothing is zero, so that a missing rank is.
std::int64_t position(std::size_t index) { return static_cast<std::int64_t>(index % 127) + 1; }
std::int64_t factor(int rank) { return rank % 5 + 1; }
std::int64_t offset(int rank) { return rank % 13 + 1; }

float given(int rank, std::size_t index) { return static_cast<float>(factor(rank) * position(index) + offset(rank)); }

// The sum over all ranks of what they give as one element.
class Sum {
 public:
  explicit Sum(int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      factors_ += factor(rank);
      offsets_ += offset(rank);
    }
  }
  [[nodiscard]] float at(std::size_t index) const { return static_cast<float>(factors_ * position(index) + offsets_); }

 private:
  std::int64_t factors_ = 0, offsets_ = 0;
};

// The buffers of a call belong to the benchmark; only its `in` is const, because no collective writes it.
std::span<float> writable(std::span<const float> in) { return {const_cast<float*>(in.data()), in.size()}; }

template <class Expected>
void fill(std::span<float> data, Expected expected) {
  for (std::size_t index = 0; index < data.size(); ++index) data[index] = expected(index);
}

template <class Expected>
bool holds(std::span<const float> data, Expected expected) {
  for (std::size_t index = 0; index < data.size(); ++index) {
    if (data[index] != expected(index)) return false;
  }
  return true;
}

void run_on_known_data(const Call& call, const AnyRun& run) {
  fill(writable(call.in), [&](std::size_t index) { return given(call.world.rank(), index); });
  std::fill(call.out.begin(), call.out.end(), std::numeric_limits<float>::quiet_NaN());
  run(call);
}

// That the result is the sum over the first `ranks` ranks; of none there is no result.
bool validate_prefix(const Call& call, const AnyRun& run, int ranks) {
  run_on_known_data(call, run);
  const Sum sum(ranks);
  return ranks == 0 || holds(call.out, [&](std::size_t index) { return sum.at(index); });
}

// Whether a rank that tells `late` of it leaves `run` before `late` enters it. `late` waits `hold_back` for such news,
// from when it knows that all others are about to enter. That nobody leaves is seen by messages, not by a clock, so a
// barrier is never called wrong because the ranks are slow.
bool somebody_leaves_before(int late, const Call& call, const AnyRun& run) {
  constexpr std::chrono::milliseconds hold_back(4);
  constexpr std::chrono::microseconds pause(100);
  constexpr int enters = 1, leaves = 2;
  const bool is_late = call.world.rank() == late;
  const auto tell = [&](int what) { MPI_Send(nullptr, 0, MPI_BYTE, late, what, MPI_COMM_WORLD); };
  const auto hear_all = [&](int what) {
    for (int others = call.world.size() - 1; others > 0; --others)
      MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, what, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  };
  int early = 0;
  if (is_late) {
    hear_all(enters);
    const auto until = std::chrono::steady_clock::now() + hold_back;
    while (early == 0 && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(pause);
      MPI_Iprobe(MPI_ANY_SOURCE, leaves, MPI_COMM_WORLD, &early, MPI_STATUS_IGNORE);
    }
    run(call);
    hear_all(leaves);
  } else {
    tell(enters);
    run(call);
    tell(leaves);
  }
  MPI_Bcast(&early, 1, MPI_INT, late, MPI_COMM_WORLD);
  return early != 0;
}

}  // namespace

bool validate_bcast(const Call& call, const AnyRun& run) {
  const auto expected = [](std::size_t index) { return given(root, index); };
  const auto poison = [](std::size_t) { return std::numeric_limits<float>::quiet_NaN(); };
  if (call.world.rank() == root)
    fill(call.out, expected);
  else
    fill(call.out, poison);
  run(call);
  return holds(call.out, expected);
}

bool validate_reduce(const Call& call, const AnyRun& run) {
  return validate_allreduce(call, run) || call.world.rank() != root;
}

bool validate_allreduce(const Call& call, const AnyRun& run) {
  run_on_known_data(call, run);
  const Sum sum(call.world.size());
  return holds(call.out, [&](std::size_t index) { return sum.at(index); });
}

bool validate_allgather(const Call& call, const AnyRun& run) {
  run_on_known_data(call, run);
  const std::size_t block = call.in.size();
  return holds(call.out, [&](std::size_t index) { return given(static_cast<int>(index / block), index % block); });
}

bool validate_reduce_scatter_block(const Call& call, const AnyRun& run) {
  run_on_known_data(call, run);
  const Sum sum(call.world.size());
  const std::size_t before = call.out.size() * static_cast<std::size_t>(call.world.rank());
  return holds(call.out, [&](std::size_t index) { return sum.at(before + index); });
}

bool validate_alltoall(const Call& call, const AnyRun& run) {
  run_on_known_data(call, run);
  const std::size_t block = call.out.size() / static_cast<std::size_t>(call.world.size());
  const std::size_t before = block * static_cast<std::size_t>(call.world.rank());
  return holds(call.out,
               [&](std::size_t index) { return given(static_cast<int>(index / block), before + index % block); });
}

bool validate_gather(const Call& call, const AnyRun& run) {
  return validate_allgather(call, run) || call.world.rank() != root;
}

bool validate_scatter(const Call& call, const AnyRun& run) {
  run_on_known_data(call, run);
  const std::size_t before = call.out.size() * static_cast<std::size_t>(call.world.rank());
  return holds(call.out, [&](std::size_t index) { return given(root, before + index); });
}

bool validate_scan(const Call& call, const AnyRun& run) { return validate_prefix(call, run, call.world.rank() + 1); }
bool validate_exscan(const Call& call, const AnyRun& run) { return validate_prefix(call, run, call.world.rank()); }

bool validate_barrier(const Call& call, const AnyRun& run) {
  constexpr int attempts = 10;
  const int ranks = call.world.size();
  for (const int late : {0, ranks / 2, ranks - 1}) {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      if (somebody_leaves_before(late, call, run)) return false;
    }
  }
  return true;
}

}  // namespace chorus::bench
