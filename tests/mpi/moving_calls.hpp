// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpi/random_call.hpp"

#include <chorus/chorus.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

// The collectives that move data, and the barrier.
namespace chorus::test {

template <class T>
void call_barrier(const RandomCall<T>& c) {
  c.carry_out([&] { barrier(c.comm); }, [&] { return ibarrier(c.comm); });
}

template <class T>
void call_bcast(const RandomCall<T>& c) {
  c.compare(
      c.n,
      [&](Values<T>& out) {
        c.carry_out([&] { bcast(c.comm, out, c.root); }, [&] { return ibcast(c.comm, out, c.root); });
      },
      [&](T* out) { MPI_Bcast(out, c.count, c.type(), c.root, c.mpi); });
}

template <class T>
void call_allgather(const RandomCall<T>& c) {
  const Values<T> in = c.values(c.n);
  c.compare(
      c.n * c.ranks,
      [&](Values<T>& out) {
        if (c.in_place) {
          c.carry_out([&] { allgather(c.comm, out); }, [&] { return iallgather(c.comm, out); });
        } else {
          c.carry_out([&] { allgather(c.comm, in, out); }, [&] { return iallgather(c.comm, in, out); });
        }
      },
      [&](T* out) {
        MPI_Allgather(c.in_place ? MPI_IN_PLACE : in.data(), c.count, c.type(), out, c.count, c.type(), c.mpi);
      });
}

template <class T>
void call_alltoall(const RandomCall<T>& c) {
  const Values<T> in = c.values(c.n * c.ranks);
  c.compare(
      c.n * c.ranks,
      [&](Values<T>& out) {
        if (c.in_place) {
          c.carry_out([&] { alltoall(c.comm, out); }, [&] { return ialltoall(c.comm, out); });
        } else {
          c.carry_out([&] { alltoall(c.comm, in, out); }, [&] { return ialltoall(c.comm, in, out); });
        }
      },
      [&](T* out) {
        MPI_Alltoall(c.in_place ? MPI_IN_PLACE : in.data(), c.count, c.type(), out, c.count, c.type(), c.mpi);
      });
}

template <class T>
void call_gather(const RandomCall<T>& c) {
  const Values<T> in = c.values(c.n);
  c.compare(
      c.in_place && !c.is_root() ? c.n : c.n * c.ranks,
      [&](Values<T>& out) {
        if (c.in_place) {
          c.carry_out([&] { gather(c.comm, out, c.root); }, [&] { return igather(c.comm, out, c.root); });
        } else {
          c.carry_out([&] { gather(c.comm, in, out, c.root); }, [&] { return igather(c.comm, in, out, c.root); });
        }
      },
      [&](T* out) {
        const void* const own = c.is_root() ? MPI_IN_PLACE : out;
        MPI_Gather(c.in_place ? own : in.data(), c.count, c.type(), c.is_root() ? out : nullptr, c.count, c.type(),
                   c.root, c.mpi);
      });
}

template <class T>
void call_scatter(const RandomCall<T>& c) {
  const Values<T> in = c.values(c.n * c.ranks);
  c.compare(
      c.in_place && c.is_root() ? c.n * c.ranks : c.n,
      [&](Values<T>& out) {
        if (c.in_place) {
          c.carry_out([&] { scatter(c.comm, out, c.root); }, [&] { return iscatter(c.comm, out, c.root); });
        } else {
          c.carry_out([&] { scatter(c.comm, in, out, c.root); }, [&] { return iscatter(c.comm, in, out, c.root); });
        }
      },
      [&](T* out) {
        const bool keeps = c.in_place && c.is_root();
        MPI_Scatter(c.in_place ? out : in.data(), c.count, c.type(), keeps ? MPI_IN_PLACE : out, c.count, c.type(),
                    c.root, c.mpi);
      });
}

template <class T>
void call_gatherv(const RandomCall<T>& c) {
  const Lists all = c.lists();
  const std::size_t mine = all.counts[c.me];
  const Values<T> in = c.values(mine);
  const std::size_t elsewhere = c.in_place ? mine : 0;
  c.compare(
      c.is_root() ? all.length : elsewhere,
      [&](Values<T>& out) {
        if (c.in_place) {
          c.carry_out([&] { gatherv(c.comm, out, all.layout(), c.root); },
                      [&] { return igatherv(c.comm, out, all.layout(), c.root); });
        } else {
          c.carry_out([&] { gatherv(c.comm, in, out, all.layout(), c.root); },
                      [&] { return igatherv(c.comm, in, out, all.layout(), c.root); });
        }
      },
      [&](T* out) {
        const void* const own = c.is_root() ? MPI_IN_PLACE : out;
        MPI_Gatherv(c.in_place ? own : in.data(), static_cast<int>(mine), c.type(), out, all.mpi_counts.data(),
                    all.mpi_displacements.data(), c.type(), c.root, c.mpi);
      });
}

template <class T>
void call_allgatherv(const RandomCall<T>& c) {
  const Lists all = c.lists();
  const Values<T> in = c.values(all.counts[c.me]);
  c.compare(
      all.length,
      [&](Values<T>& out) {
        if (c.in_place) {
          c.carry_out([&] { allgatherv(c.comm, out, all.layout()); },
                      [&] { return iallgatherv(c.comm, out, all.layout()); });
        } else {
          c.carry_out([&] { allgatherv(c.comm, in, out, all.layout()); },
                      [&] { return iallgatherv(c.comm, in, out, all.layout()); });
        }
      },
      [&](T* out) {
        MPI_Allgatherv(c.in_place ? MPI_IN_PLACE : in.data(), static_cast<int>(in.size()), c.type(), out,
                       all.mpi_counts.data(), all.mpi_displacements.data(), c.type(), c.mpi);
      });
}

template <class T>
void call_scatterv(const RandomCall<T>& c) {
  const Lists all = c.lists();
  const std::size_t mine = all.counts[c.me];
  const Values<T> in = c.values(c.is_root() ? all.length : 0);
  c.compare(
      c.in_place && c.is_root() ? all.length : mine,
      [&](Values<T>& out) {
        if (c.in_place) {
          c.carry_out([&] { scatterv(c.comm, out, all.layout(), c.root); },
                      [&] { return iscatterv(c.comm, out, all.layout(), c.root); });
        } else {
          c.carry_out([&] { scatterv(c.comm, in, all.layout(), out, c.root); },
                      [&] { return iscatterv(c.comm, in, all.layout(), out, c.root); });
        }
      },
      [&](T* out) {
        const bool keeps = c.in_place && c.is_root();
        MPI_Scatterv(c.in_place ? out : in.data(), all.mpi_counts.data(), all.mpi_displacements.data(), c.type(),
                     keeps ? MPI_IN_PLACE : out, static_cast<int>(mine), c.type(), c.root, c.mpi);
      });
}

/// What a rank gives each rank, and what it gets; in place that is the same.
struct Exchange {
  Lists to, from;
};

template <class T>
Exchange drawn_exchange(const RandomCall<T>& c) {
  std::vector<std::size_t> counts;  // from rank to rank
  for (std::size_t pair = 0; pair < c.ranks * c.ranks; ++pair) counts.push_back(c.draw.count() / 4);
  const auto between = [&](std::size_t from, std::size_t to) {
    return c.in_place ? counts[std::min(from, to) * c.ranks + std::max(from, to)] : counts[from * c.ranks + to];
  };
  Exchange exchange;
  for (std::size_t rank = 0; rank < c.ranks; ++rank) {
    exchange.to.add(between(c.me, rank), rank % 3);
    exchange.from.add(between(rank, c.me), c.in_place ? rank % 3 : rank % 2);
  }
  return exchange;
}

template <class T>
void call_alltoallv(const RandomCall<T>& c) {
  const auto [to, from] = drawn_exchange(c);
  const BlockLayout given = to.layout();
  const BlockLayout gotten = from.layout();
  const Values<T> in = c.values(to.length);
  c.compare(
      from.length,
      [&](Values<T>& out) {
        if (c.in_place) {
          c.carry_out([&] { alltoallv(c.comm, out, gotten); }, [&] { return ialltoallv(c.comm, out, gotten); });
        } else {
          c.carry_out([&] { alltoallv(c.comm, in, given, out, gotten); },
                      [&] { return ialltoallv(c.comm, in, given, out, gotten); });
        }
      },
      [&, &to = to, &from = from](T* out) {
        MPI_Alltoallv(c.in_place ? MPI_IN_PLACE : in.data(), to.mpi_counts.data(), to.mpi_displacements.data(),
                      c.type(), out, from.mpi_counts.data(), from.mpi_displacements.data(), c.type(), c.mpi);
      });
}

/// The blocks of `lists` in `values`, which are T or const T.
template <class Byte, class Range>
std::vector<std::span<Byte>> blocks_of(Range& values, const Lists& lists) {
  std::vector<std::span<Byte>> blocks;
  for (std::size_t rank = 0; rank < lists.counts.size(); ++rank) {
    const auto block = std::span(values).subspan(lists.displacements[rank], lists.counts[rank]);
    blocks.emplace_back(reinterpret_cast<Byte*>(block.data()), block.size_bytes());
  }
  return blocks;
}

/// As MPI_Alltoallw takes them: every other pair of ranks exchanges bytes.
template <class T>
struct TypedLists {
  TypedLists(const RandomCall<T>& c, const Lists& lists) {
    for (std::size_t rank = 0; rank < c.ranks; ++rank) {
      const bool bytes = (rank + c.me) % 2 == 1;
      types.push_back(bytes ? MPI_BYTE : c.type());
      counts.push_back(static_cast<int>(lists.counts[rank] * (bytes ? sizeof(T) : 1)));
      displacements.push_back(static_cast<int>(lists.displacements[rank] * sizeof(T)));
    }
  }
  std::vector<int> counts, displacements;
  std::vector<MPI_Datatype> types;
};

template <class T>
void call_alltoallw(const RandomCall<T>& c) {
  const auto [to, from] = drawn_exchange(c);
  const Values<T> in = c.values(to.length);
  const auto given = blocks_of<const std::byte>(in, to);
  const TypedLists<T> typed_to(c, to);
  const TypedLists<T> typed_from(c, from);
  c.compare(
      from.length,
      [&, &from = from](Values<T>& out) {
        const auto gotten = blocks_of<std::byte>(out, from);
        if (c.in_place) {
          c.carry_out([&] { alltoallw(c.comm, gotten); }, [&] { return ialltoallw(c.comm, gotten); });
        } else {
          c.carry_out([&] { alltoallw(c.comm, given, gotten); }, [&] { return ialltoallw(c.comm, given, gotten); });
        }
      },
      [&](T* out) {
        MPI_Alltoallw(c.in_place ? MPI_IN_PLACE : in.data(), typed_to.counts.data(), typed_to.displacements.data(),
                      typed_to.types.data(), out, typed_from.counts.data(), typed_from.displacements.data(),
                      typed_from.types.data(), c.mpi);
      });
}

}  // namespace chorus::test
