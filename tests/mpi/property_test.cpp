// SPDX-License-Identifier: Apache-2.0
// Random calls, on random communicators, from and to buffers that are registered memory or not, compared with what MPI
// gives for the same: the values are so small that every order of a reduction gives the same bits. The seed is printed
// with a failure; RANDOM_CALLS_SEED repeats it. RANDOM_CALLS is how many there are.

#include "mpi/draw.hpp"
#include "mpi/footprint.hpp"
#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace chorus::test {
namespace {

constexpr unsigned calls_each = 10;  // of a communicator

/// Some ranks of the job, in some order.
struct Some {
  explicit Some(Draw& draw)
      : mpi(static_cast<int>(draw.below(2)) * (job_rank() % 3), static_cast<int>(draw.alone() % 50)),
        comm(from_mpi(mpi.get())) {}
  [[nodiscard]] int size() const { return comm.size(); }
  [[nodiscard]] std::size_t blocks() const { return static_cast<std::size_t>(comm.size()); }

  OwnedComm mpi;
  Communicator comm;
};

/// Counts of the blocks of all ranks, and the same as MPI takes them.
struct Lists {
  std::vector<std::size_t> counts, displacements;
  std::vector<int> mpi_counts, mpi_displacements;
  std::size_t length = 0;

  void add(std::size_t count, std::size_t gap) {
    counts.push_back(count);
    displacements.push_back(length);
    mpi_counts.push_back(static_cast<int>(count));
    mpi_displacements.push_back(static_cast<int>(length));
    length += count + gap;
  }
};

/// Runs one call both ways into outputs of `length` elements that hold the same before.
template <class T>
void compare(Draw& draw, std::size_t length, const std::function<void(Values<T>&)>& chorus_call,
             const std::function<void(T*)>& mpi_call) {
  Values<T> ours = draw.values<T>(length);
  Values<T> theirs = ours;
  chorus_call(ours);
  mpi_call(theirs.data());
  EXPECT_EQ(ours, theirs);
}

template <class T>
class Calls {
 public:
  Calls(Draw& draw, const Some& some)
      : draw_(draw),
        comm_(some.comm),
        mpi_(some.mpi.get()),
        ranks_(some.blocks()),
        root_(static_cast<int>(draw.below(ranks_))),
        n_(draw.count()),
        count_(static_cast<int>(n_)),
        op_(draw.op<T>()) {}

  void run(std::size_t kind) {
    const std::vector<void (Calls::*)()> all = {
        &Calls::bcasts,    &Calls::reduces,     &Calls::allreduces, &Calls::allgathers, &Calls::reduce_scatters_blocks,
        &Calls::alltoalls, &Calls::gathers,     &Calls::scatters,   &Calls::scans,      &Calls::exscans,
        &Calls::gathervs,  &Calls::allgathervs, &Calls::scattervs,  &Calls::alltoallvs, &Calls::reduce_scatters};
    (this->*all[kind % all.size()])();
  }

 private:
  using Out = Values<T>;
  [[nodiscard]] bool is_root() const { return comm_.rank() == root_; }
  static MPI_Datatype type() { return mpi_type<T>(); }

  void bcasts() {
    compare<T>(
        draw_, n_, [&](Out& out) { bcast(comm_, out, root_); },
        [&](T* out) { MPI_Bcast(out, count_, type(), root_, mpi_); });
  }
  void reduces() {
    const Out in = draw_.values<T>(n_);
    compare<T>(
        draw_, n_, [&](Out& out) { reduce(comm_, in, out, op_.op, root_); },
        [&](T* out) { MPI_Reduce(in.data(), out, count_, type(), op_.mpi, root_, mpi_); });
  }
  void allreduces() {
    const Out in = draw_.values<T>(n_);
    compare<T>(
        draw_, n_, [&](Out& out) { iallreduce(comm_, in, out, op_.op).wait(); },
        [&](T* out) { MPI_Allreduce(in.data(), out, count_, type(), op_.mpi, mpi_); });
  }
  void allgathers() {
    const Out in = draw_.values<T>(n_);
    compare<T>(
        draw_, n_ * ranks_, [&](Out& out) { allgather(comm_, in, out); },
        [&](T* out) { MPI_Allgather(in.data(), count_, type(), out, count_, type(), mpi_); });
  }
  void reduce_scatters_blocks() {
    const Out in = draw_.values<T>(n_ * ranks_);
    compare<T>(
        draw_, n_, [&](Out& out) { reduce_scatter_block(comm_, in, out, op_.op); },
        [&](T* out) { MPI_Reduce_scatter_block(in.data(), out, count_, type(), op_.mpi, mpi_); });
  }
  void alltoalls() {
    const Out in = draw_.values<T>(n_ * ranks_);
    compare<T>(
        draw_, n_ * ranks_, [&](Out& out) { alltoall(comm_, in, out); },
        [&](T* out) { MPI_Alltoall(in.data(), count_, type(), out, count_, type(), mpi_); });
  }
  void gathers() {
    const Out in = draw_.values<T>(n_);
    compare<T>(
        draw_, n_ * ranks_, [&](Out& out) { gather(comm_, in, out, root_); },
        [&](T* out) { MPI_Gather(in.data(), count_, type(), out, count_, type(), root_, mpi_); });
  }
  void scatters() {
    const Out in = draw_.values<T>(n_ * ranks_);
    compare<T>(
        draw_, n_, [&](Out& out) { scatter(comm_, in, out, root_); },
        [&](T* out) { MPI_Scatter(in.data(), count_, type(), out, count_, type(), root_, mpi_); });
  }
  void scans() {
    const Out in = draw_.values<T>(n_);
    compare<T>(
        draw_, n_, [&](Out& out) { scan(comm_, in, out, op_.op); },
        [&](T* out) { MPI_Scan(in.data(), out, count_, type(), op_.mpi, mpi_); });
  }
  void exscans() {
    const Out in = draw_.values<T>(n_);
    compare<T>(
        draw_, comm_.rank() == 0 ? 0 : n_,
        [&](Out& out) {
          out.resize(n_);
          exscan(comm_, in, out, op_.op);
          if (comm_.rank() == 0) out.clear();
        },
        [&](T* out) {
          Out unused(n_);
          MPI_Exscan(in.data(), comm_.rank() == 0 ? unused.data() : out, count_, type(), op_.mpi, mpi_);
        });
  }

  /// Random counts, the same on every rank, with gaps between the blocks.
  Lists lists() {
    Lists lists;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const std::size_t count = draw_.count();
      lists.add(count, draw_.below(4));
    }
    return lists;
  }
  [[nodiscard]] std::size_t mine(const Lists& all) const { return all.counts[static_cast<std::size_t>(comm_.rank())]; }

  void gathervs() {
    const Lists all = lists();
    const Out in = draw_.values<T>(mine(all));
    compare<T>(
        draw_, is_root() ? all.length : 0,
        [&](Out& out) {
          gatherv(comm_, in, out, {all.counts, all.displacements}, root_);
        },
        [&](T* out) {
          MPI_Gatherv(in.data(), static_cast<int>(in.size()), type(), out, all.mpi_counts.data(),
                      all.mpi_displacements.data(), type(), root_, mpi_);
        });
  }
  void allgathervs() {
    const Lists all = lists();
    const Out in = draw_.values<T>(mine(all));
    compare<T>(
        draw_, all.length,
        [&](Out& out) {
          iallgatherv(comm_, in, out, {all.counts, all.displacements}).wait();
        },
        [&](T* out) {
          MPI_Allgatherv(in.data(), static_cast<int>(in.size()), type(), out, all.mpi_counts.data(),
                         all.mpi_displacements.data(), type(), mpi_);
        });
  }
  void scattervs() {
    const Lists all = lists();
    const Out in = draw_.values<T>(is_root() ? all.length : 0);
    compare<T>(
        draw_, mine(all),
        [&](Out& out) {
          scatterv(comm_, in, {all.counts, all.displacements}, out, root_);
        },
        [&](T* out) {
          MPI_Scatterv(in.data(), all.mpi_counts.data(), all.mpi_displacements.data(), type(), out,
                       static_cast<int>(mine(all)), type(), root_, mpi_);
        });
  }
  void alltoallvs() {
    std::vector<std::size_t> counts;  // from rank to rank
    for (std::size_t pair = 0; pair < ranks_ * ranks_; ++pair) counts.push_back(draw_.count() / 4);
    const auto me = static_cast<std::size_t>(comm_.rank());
    Lists to;
    Lists from;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      to.add(counts[me * ranks_ + rank], rank % 3);
      from.add(counts[rank * ranks_ + me], rank % 2);
    }
    const Out in = draw_.values<T>(to.length);
    compare<T>(
        draw_, from.length,
        [&](Out& out) {
          alltoallv(comm_, in, {to.counts, to.displacements}, out, {from.counts, from.displacements});
        },
        [&](T* out) {
          MPI_Alltoallv(in.data(), to.mpi_counts.data(), to.mpi_displacements.data(), type(), out,
                        from.mpi_counts.data(), from.mpi_displacements.data(), type(), mpi_);
        });
  }
  void reduce_scatters() {
    const Lists all = lists();
    const Out in = draw_.values<T>(std::accumulate(all.counts.begin(), all.counts.end(), std::size_t{0}));
    compare<T>(
        draw_, mine(all), [&](Out& out) { reduce_scatter(comm_, in, out, all.counts, op_.op); },
        [&](T* out) { MPI_Reduce_scatter(in.data(), out, all.mpi_counts.data(), type(), op_.mpi, mpi_); });
  }

  Draw& draw_;
  Communicator comm_;
  MPI_Comm mpi_;
  std::size_t ranks_;
  int root_;
  std::size_t n_;
  int count_;
  Op op_;
};

/// The communicators of the calls: some live together, and now and then another takes the place of one.
class Communicators {
 public:
  void renew(Draw& draw) {
    std::unique_ptr<Some>& place = places_[draw.below(places_.size())];
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
  std::array<std::unique_ptr<Some>, 16> places_;
};

void make_a_call(Draw& draw, const Some& some) {
  Draw on_some = draw;  // parts of the job are of different sizes, and so draw differently often
  const std::size_t kind = draw.together();
  switch (draw.below(4)) {
    case 0:
      return Calls<std::int32_t>(on_some, some).run(kind);
    case 1:
      return Calls<std::uint64_t>(on_some, some).run(kind);
    case 2:
      return Calls<float>(on_some, some).run(kind);
    default:
      return Calls<double>(on_some, some).run(kind);
  }
}

unsigned number_in(const char* variable, unsigned otherwise) {
  const char* const wish = std::getenv(variable);
  return wish != nullptr ? static_cast<unsigned>(std::atoi(wish)) : otherwise;
}

TEST(RandomCalls, GiveWhatMpiGives) {
  unsigned seed = number_in("RANDOM_CALLS_SEED", std::random_device()());
  MPI_Bcast(&seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  const unsigned calls = number_in("RANDOM_CALLS", 300);
  Draw draw{std::mt19937(seed), std::mt19937(seed + 1 + static_cast<unsigned>(job_rank()))};
  Communicators communicators;
  Footprint before;
  int failed = 0;  // on any rank: all stop together
  for (unsigned call = 0; call < calls && failed == 0; ++call) {
    SCOPED_TRACE(fmt::format("call {}, RANDOM_CALLS_SEED={}", call, seed));
    if (call % calls_each == 0) communicators.renew(draw);
    make_a_call(draw, communicators.any(draw));
    const int failed_here = testing::Test::HasFailure() ? 1 : 0;
    MPI_Allreduce(&failed_here, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    draw.alone.discard(1);
    if (call == calls / 2) before = footprint();
    begin_the_time_again();
  }
  if (failed != 0) return;
  const Footprint after = footprint();
  EXPECT_LE(after.descriptors, before.descriptors + 8);
  EXPECT_LT(after.resident_mb, before.resident_mb + 32);
  if (job_rank() == 0) {
    fmt::print("{} calls on {} communicators: {} descriptors and {:.0f} MB in the middle, {} and {:.0f} at the end\n",
               calls, (calls + calls_each - 1) / calls_each, before.descriptors, before.resident_mb, after.descriptors,
               after.resident_mb);
  }
}

}  // namespace
}  // namespace chorus::test
