// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpi/random_call.hpp"

#include <chorus/chorus.hpp>

#include <cstddef>
#include <numeric>

// The collectives that reduce, by operations and by a function that does not commute.
namespace chorus::test {

template <class T>
void call_reduce(const RandomCall<T>& c) {
  const Values<T> in = c.values(c.n);
  c.compare(
      c.n,
      [&](Values<T>& out) {
        c.op.with([&](const auto& op) {
          if (c.in_place) {
            c.carry_out([&] { reduce(c.comm, out, op, c.root); }, [&] { return ireduce(c.comm, out, op, c.root); });
          } else {
            c.carry_out([&] { reduce(c.comm, in, out, op, c.root); },
                        [&] { return ireduce(c.comm, in, out, op, c.root); });
          }
        });
      },
      // Not in place, in which MPICH 4.0 crashes on other roots than rank 0.
      [&](T* out) {
        const Values<T> own = c.in_place ? Values<T>(out, out + c.n) : in;
        MPI_Reduce(own.data(), c.is_root() ? out : nullptr, c.count, c.type(), c.op.mpi, c.root, c.mpi);
      });
}

template <class T>
void call_allreduce(const RandomCall<T>& c) {
  const Values<T> in = c.values(c.n);
  c.compare(
      c.n,
      [&](Values<T>& out) {
        c.op.with([&](const auto& op) {
          if (c.in_place) {
            c.carry_out([&] { allreduce(c.comm, out, op); }, [&] { return iallreduce(c.comm, out, op); });
          } else {
            c.carry_out([&] { allreduce(c.comm, in, out, op); }, [&] { return iallreduce(c.comm, in, out, op); });
          }
        });
      },
      [&](T* out) { MPI_Allreduce(c.in_place ? MPI_IN_PLACE : in.data(), out, c.count, c.type(), c.op.mpi, c.mpi); });
}

template <class T>
void call_reduce_scatter_block(const RandomCall<T>& c) {
  const Values<T> in = c.values(c.n * c.ranks);
  c.compare(
      c.in_place ? c.n * c.ranks : c.n, c.n,
      [&](Values<T>& out) {
        c.op.with([&](const auto& op) {
          if (c.in_place) {
            c.carry_out([&] { reduce_scatter_block(c.comm, out, op); },
                        [&] { return ireduce_scatter_block(c.comm, out, op); });
          } else {
            c.carry_out([&] { reduce_scatter_block(c.comm, in, out, op); },
                        [&] { return ireduce_scatter_block(c.comm, in, out, op); });
          }
        });
      },
      [&](T* out) {
        MPI_Reduce_scatter_block(c.in_place ? MPI_IN_PLACE : in.data(), out, c.count, c.type(), c.op.mpi, c.mpi);
      });
}

template <class T>
void call_reduce_scatter(const RandomCall<T>& c) {
  const Lists all = c.lists();
  const std::size_t length = std::accumulate(all.counts.begin(), all.counts.end(), std::size_t{0});
  const std::size_t mine = all.counts[c.me];
  const Values<T> in = c.values(length);
  c.compare(
      c.in_place ? length : mine, mine,
      [&](Values<T>& out) {
        c.op.with([&](const auto& op) {
          if (c.in_place) {
            c.carry_out([&] { reduce_scatter(c.comm, out, all.counts, op); },
                        [&] { return ireduce_scatter(c.comm, out, all.counts, op); });
          } else {
            c.carry_out([&] { reduce_scatter(c.comm, in, out, all.counts, op); },
                        [&] { return ireduce_scatter(c.comm, in, out, all.counts, op); });
          }
        });
      },
      // Not in place, in which MPICH 4.0 ends the job where a block overlaps the place it is moved to.
      [&](T* out) {
        const Values<T> own = c.in_place ? Values<T>(out, out + length) : in;
        MPI_Reduce_scatter(own.data(), out, all.mpi_counts.data(), c.type(), c.op.mpi, c.mpi);
      });
}

template <class T>
void call_scan(const RandomCall<T>& c) {
  const Values<T> in = c.values(c.n);
  c.compare(
      c.n,
      [&](Values<T>& out) {
        c.op.with([&](const auto& op) {
          if (c.in_place) {
            c.carry_out([&] { scan(c.comm, out, op); }, [&] { return iscan(c.comm, out, op); });
          } else {
            c.carry_out([&] { scan(c.comm, in, out, op); }, [&] { return iscan(c.comm, in, out, op); });
          }
        });
      },
      [&](T* out) { MPI_Scan(c.in_place ? MPI_IN_PLACE : in.data(), out, c.count, c.type(), c.op.mpi, c.mpi); });
}

/// Rank 0 gets nothing, and MPI may write there.
template <class T>
void call_exscan(const RandomCall<T>& c) {
  const Values<T> in = c.values(c.n);
  c.compare(
      c.n, c.me == 0 ? 0 : c.n,
      [&](Values<T>& out) {
        c.op.with([&](const auto& op) {
          if (c.in_place) {
            c.carry_out([&] { exscan(c.comm, out, op); }, [&] { return iexscan(c.comm, out, op); });
          } else {
            c.carry_out([&] { exscan(c.comm, in, out, op); }, [&] { return iexscan(c.comm, in, out, op); });
          }
        });
      },
      [&](T* out) { MPI_Exscan(c.in_place ? MPI_IN_PLACE : in.data(), out, c.count, c.type(), c.op.mpi, c.mpi); });
}

}  // namespace chorus::test
