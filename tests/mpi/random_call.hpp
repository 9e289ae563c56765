// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpi/draw.hpp"
#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

// A call of random arguments: what it has beside its collective, and how it is carried out both by chorus and by MPI.
namespace chorus::test {

/// Some ranks of the job, in some order: all of them, or those that have drawn the same of some colors, so that a part
/// has none, some or all ranks of each node.
struct Some {
  explicit Some(Draw& draw) : Some(draw, 1 + draw.below(4)) {}
  Some(Draw& draw, std::size_t colors)
      : mpi(static_cast<int>(draw.alone() % colors), static_cast<int>(draw.alone() % 50)), comm(from_mpi(mpi.get())) {}

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
  [[nodiscard]] BlockLayout layout() const { return {counts, displacements}; }
};

template <class T>
struct RandomCall {
  using Out = Values<T>;

  RandomCall(Draw& drawn, const Some& some)
      : draw(drawn),
        comm(some.comm),
        mpi(some.mpi.get()),
        ranks(static_cast<std::size_t>(comm.size())),
        me(static_cast<std::size_t>(comm.rank())),
        root(static_cast<int>(draw.below(ranks))),
        n(draw.count()),
        count(static_cast<int>(n)),
        op(draw.op<T>()),
        in_place(draw.below(2) == 0),
        later(draw.below(2) == 0) {}

  [[nodiscard]] bool is_root() const { return comm.rank() == root; }
  static MPI_Datatype type() { return mpi_type<T>(); }
  [[nodiscard]] Out values(std::size_t length) const { return draw.values<T>(length); }

  /// Counts of all ranks, the same on every rank, with gaps between the blocks.
  [[nodiscard]] Lists lists() const {
    Lists lists;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t block = draw.count();
      lists.add(block, draw.below(4));
    }
    return lists;
  }

  /// Carries it out, by the blocking function or by the one that gives a request.
  template <class Now, class Later>
  void carry_out(const Now& now, const Later& request) const {
    if (later) {
      request().wait();
    } else {
      now();
    }
  }

  /// Carries it out both ways into outputs of `length` elements that hold the same before; the first `compared` of them
  /// are then the same.
  template <class Chorus, class Mpi>
  void compare(std::size_t length, std::size_t compared, const Chorus& chorus_call, const Mpi& mpi_call) const {
    Out ours = values(length);
    Out theirs = ours;
    chorus_call(ours);
    mpi_call(theirs.data());
    ours.resize(compared);
    theirs.resize(compared);
    EXPECT_EQ(ours, theirs);
  }
  template <class Chorus, class Mpi>
  void compare(std::size_t length, const Chorus& chorus_call, const Mpi& mpi_call) const {
    compare(length, length, chorus_call, mpi_call);
  }

  Draw& draw;
  Communicator comm;
  MPI_Comm mpi;
  std::size_t ranks, me;
  int root;
  std::size_t n;
  int count;
  Op<T> op;
  bool in_place, later;
};

}  // namespace chorus::test
