// SPDX-License-Identifier: Apache-2.0
// Random calls, blocking and not, in place and not, on random communicators, from and to buffers that are registered
// memory or not, compared with what MPI gives for the same: the values are so small that every order of a reduction
// gives the same bits. RANDOM_CALLS is how many there are, RANDOM_CALLS_SEED what they are drawn by, or "any", which is
// printed with a failure.

#include "mpi/draw.hpp"
#include "mpi/footprint.hpp"
#include "mpi/job.hpp"
#include "mpi/moving_calls.hpp"
#include "mpi/random_call.hpp"
#include "mpi/reducing_calls.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::test {
namespace {

constexpr unsigned calls_each = 10;  // of a communicator

/// What a process may have more of after the second half of the calls than after the first one. Of MPI alone: it takes
/// most at its first messages of each kind and between each two ranks, and a little now and then. The 500 communicators
/// of half a soak may leave no more than 16 kB each.
constexpr unsigned many_calls = 5000;
constexpr Footprint most_after_many{.descriptors = 2, .resident_mb = 8};
constexpr Footprint most_after_few{.descriptors = 8, .resident_mb = 64};

template <class T>
struct Kind {
  const char* name;
  void (*call)(const RandomCall<T>&);
};
template <class T>
constexpr Kind<T> kinds[] = {{"barrier", call_barrier},
                             {"bcast", call_bcast},
                             {"allgather", call_allgather},
                             {"alltoall", call_alltoall},
                             {"gather", call_gather},
                             {"scatter", call_scatter},
                             {"gatherv", call_gatherv},
                             {"allgatherv", call_allgatherv},
                             {"scatterv", call_scatterv},
                             {"alltoallv", call_alltoallv},
                             {"alltoallw", call_alltoallw},
                             {"reduce", call_reduce},
                             {"allreduce", call_allreduce},
                             {"reduce_scatter_block", call_reduce_scatter_block},
                             {"reduce_scatter", call_reduce_scatter},
                             {"scan", call_scan},
                             {"exscan", call_exscan}};

template <class T>
void carry_out(std::size_t kind, Draw& draw, const Some& some) {
  const auto& [name, call] = kinds<T>[kind % std::size(kinds<T>)];
  const RandomCall<T> arguments(draw, some);
  SCOPED_TRACE(fmt::format("{} of {} elements on {} ranks, root {}, {}{}", name, arguments.n, arguments.ranks,
                           arguments.root, arguments.in_place ? "in place, " : "",
                           arguments.later ? "by a request" : "blocking"));
  call(arguments);
}

/// The communicators of the calls: some live together, and now and then another takes the place of one.
class Communicators {
 public:
  static constexpr std::size_t few = 16;
  static constexpr std::size_t many = 64;

  /// In one of the first `places`.
  void renew(Draw& draw, std::size_t places) {
    std::unique_ptr<Some>& place = places_[draw.below(places)];
    place.reset();
    place = std::make_unique<Some>(draw);
  }
  [[nodiscard]] const Some& any(Draw& draw) const {
    std::vector<const Some*> there;
    for (const auto& place : places_) {
      if (place) there.push_back(place.get());
    }
    return *there[draw.below(there.size())];
  }

 private:
  std::array<std::unique_ptr<Some>, many> places_;
};

/// What this process has when it has no communicator, and what is free has gone back to the system.
Footprint footprint_without(Communicators& communicators) {
  communicators = {};
  MPI_Barrier(MPI_COMM_WORLD);
  barrier(from_mpi(MPI_COMM_WORLD));  // shared memory that all have left goes back where other is set up
  MPI_Barrier(MPI_COMM_WORLD);
  malloc_trim(0);
  return footprint();
}

void make_a_call(Draw& draw, const Some& some) {
  Draw on_some = draw;  // parts of the job are of different sizes, and so draw differently often
  const std::size_t kind = draw.together();
  switch (draw.below(4)) {
    case 0:
      return carry_out<std::int32_t>(kind, on_some, some);
    case 1:
      return carry_out<std::uint64_t>(kind, on_some, some);
    case 2:
      return carry_out<float>(kind, on_some, some);
    default:
      return carry_out<double>(kind, on_some, some);
  }
}

unsigned number_in(const char* variable, unsigned otherwise) {
  const char* const wish = std::getenv(variable);
  if (wish == nullptr) return otherwise;
  return std::string_view(wish) == "any" ? std::random_device()() : static_cast<unsigned>(std::stoul(wish));
}

TEST(RandomCalls, GiveWhatMpiGives) {
  unsigned seed = number_in("RANDOM_CALLS_SEED", 1);
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  const unsigned calls = number_in("RANDOM_CALLS", 300);
  Draw draw{std::mt19937(seed), std::mt19937(seed + 1 + static_cast<unsigned>(job_rank()))};
  memory_coin = draw.alone;
  Communicators communicators;
  Footprint before;
  int failed = 0;  // on any rank: all stop together
  for (unsigned call = 0; call < calls && failed == 0; ++call) {
    SCOPED_TRACE(fmt::format("call {}, RANDOM_CALLS_SEED={}", call, seed));
    const bool in_the_middle = call == calls / 2;
    if (in_the_middle) before = footprint_without(communicators);
    const bool many_live = 4 * call / calls % 2 == 1;  // at the end of either half
    if (in_the_middle || call % calls_each == 0) {
      communicators.renew(draw, many_live ? Communicators::many : Communicators::few);
    }
    make_a_call(draw, communicators.any(draw));
    const int failed_here = testing::Test::HasFailure() ? 1 : 0;
    MPI_Allreduce(&failed_here, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    draw.alone.discard(1);
    begin_the_time_again();
  }
  if (failed != 0) return;
  const Footprint after = footprint_without(communicators);
  const Footprint most = calls >= many_calls ? most_after_many : most_after_few;
  EXPECT_LE(after.descriptors, before.descriptors + most.descriptors);
  EXPECT_LT(after.resident_mb, before.resident_mb + most.resident_mb);
  if (job_rank() == 0) {
    fmt::print("{} calls on {} communicators: {} descriptors and {:.0f} MB in the middle, {} and {:.0f} at the end\n",
               calls, (calls + calls_each - 1) / calls_each, before.descriptors, before.resident_mb, after.descriptors,
               after.resident_mb);
  }
}

}  // namespace
}  // namespace chorus::test
