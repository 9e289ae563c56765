// SPDX-License-Identifier: Apache-2.0
// Collectives whose blocks differ in length, on device memory.
#include "device/device_ranks.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using Case = std::tuple<const char*, int, bool, std::size_t>;  // algorithm, ranks, in place, elements

class BlockLengths : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { skip_without_devices(options().algorithm, ranks()); }
  static CollectiveOptions options() { return {.algorithm = std::get<0>(GetParam())}; }
  static int ranks() { return std::get<1>(GetParam()); }
  static bool in_place() { return std::get<2>(GetParam()); }
  /// Of the shortest block that has any.
  static std::size_t unit() { return std::get<3>(GetParam()); }
  /// Elements that `giver` has for `getter`; none now and then.
  static std::size_t length(int giver, int getter) {
    return static_cast<std::size_t>((3 * giver + 5 * getter) % 4) * unit();
  }
  /// The same whichever of the two gives.
  static std::size_t length_between(int one, int other) { return length(std::min(one, other), std::max(one, other)); }
};

int element(int giver, int getter, std::size_t index) {
  return 100'000'000 * giver + 10'000'000 * getter + static_cast<int>(index);
}

/// Blocks one behind the other with gaps between, in a buffer of `size` elements.
struct Layout {
  std::vector<std::size_t> counts;
  std::vector<std::size_t> displacements;
  std::size_t size = 0;

  void add(std::size_t count) {
    constexpr std::size_t gap = 3;
    counts.push_back(count);
    displacements.push_back(size + gap);
    size += gap + count + 1;
  }
  [[nodiscard]] BlockLayout get() const { return {counts, displacements}; }
};

template <class Length>
Layout layout_of(int ranks, const Length& length) {
  Layout layout;
  for (int rank = 0; rank < ranks; ++rank) layout.add(length(rank));
  return layout;
}

constexpr int untouched = -7;

void put(std::vector<int>& buffer, const Layout& layout, int block, int giver, int getter) {
  const auto number = static_cast<std::size_t>(block);
  for (std::size_t i = 0; i < layout.counts[number]; ++i) {
    buffer[layout.displacements[number] + i] = element(giver, getter, i);
  }
}

TEST_P(BlockLengths, Alltoallv) {
  on_device_ranks(ranks(), Devices::own, [](const Communicator& comm) {
    const int me = comm.rank();
    const auto lengths = [&](int giver, int getter) {
      return in_place() ? length_between(giver, getter) : length(giver, getter);
    };
    const Layout in = layout_of(ranks(), [&](int getter) { return lengths(me, getter); });
    const Layout out = layout_of(ranks(), [&](int giver) { return lengths(giver, me); });
    std::vector<int> given(in.size, untouched), wanted(out.size, untouched);
    for (int rank = 0; rank < ranks(); ++rank) {
      put(given, in, rank, me, rank);
      put(wanted, out, rank, rank, me);
    }
    const TestStream stream;
    const DeviceMemory from(bytes_of_all(given));
    const DeviceMemory to(bytes_of_all(std::vector<int>(out.size, untouched)));
    if (in_place()) {
      alltoallv(comm, from.span<int>(), in.get(), stream.get(), options());
    } else {
      alltoallv(comm, from.span<const int>(), in.get(), to.span<int>(), out.get(), stream.get(), options());
    }
    synchronize(comm, stream.get());
    EXPECT_EQ(elements<int>(in_place() ? from : to), wanted);
  });
}

TEST_P(BlockLengths, Allgatherv) {
  on_device_ranks(ranks(), Devices::own, [](const Communicator& comm) {
    const auto me = static_cast<std::size_t>(comm.rank());
    const Layout blocks = layout_of(ranks(), [&](int giver) { return length(giver, 1); });
    std::vector<int> wanted(blocks.size, untouched), before(blocks.size, untouched);
    for (int rank = 0; rank < ranks(); ++rank) put(wanted, blocks, rank, rank, 1);
    std::vector<int> mine(wanted.begin() + static_cast<std::ptrdiff_t>(blocks.displacements[me]),
                          wanted.begin() + static_cast<std::ptrdiff_t>(blocks.displacements[me] + blocks.counts[me]));
    if (in_place()) put(before, blocks, comm.rank(), comm.rank(), 1);
    const TestStream stream;
    const DeviceMemory from(bytes_of_all(mine));
    const DeviceMemory to(bytes_of_all(before));
    if (in_place()) {
      allgatherv(comm, to.span<int>(), blocks.get(), stream.get(), options());
    } else {
      allgatherv(comm, from.span<const int>(), to.span<int>(), blocks.get(), stream.get(), options());
    }
    synchronize(comm, stream.get());
    EXPECT_EQ(elements<int>(to), wanted);
  });
}

TEST_P(BlockLengths, GathervAndScatterv) {
  on_device_ranks(ranks(), Devices::own, [](const Communicator& comm) {
    const int root = ranks() - 1;
    const bool is_root = comm.rank() == root;
    const Layout blocks = layout_of(ranks(), [&](int rank) { return length(rank, 2); });
    std::vector<int> all(blocks.size, untouched);
    for (int rank = 0; rank < ranks(); ++rank) put(all, blocks, rank, rank, 2);
    const auto me = static_cast<std::size_t>(comm.rank());
    std::vector<int> mine(all.begin() + static_cast<std::ptrdiff_t>(blocks.displacements[me]),
                          all.begin() + static_cast<std::ptrdiff_t>(blocks.displacements[me] + blocks.counts[me]));
    std::vector<int> before(is_root ? blocks.size : 0, untouched);
    const bool stays = in_place() && is_root;
    if (stays) put(before, blocks, root, root, 2);
    const TestStream stream;
    const DeviceMemory own(bytes_of_all(mine)), gathered(bytes_of_all(before));
    const BlockLayout layout = is_root ? blocks.get() : BlockLayout();
    if (stays) {
      gatherv(comm, gathered.span<int>(), layout, root, stream.get(), options());
    } else {
      gatherv(comm, own.span<const int>(), gathered.span<int>(), layout, root, stream.get(), options());
    }
    synchronize(comm, stream.get());
    if (is_root) {
      EXPECT_EQ(elements<int>(gathered), all);
    }

    const DeviceMemory scattered(bytes_of_all(std::vector<int>(mine.size(), untouched)));
    const DeviceMemory given(bytes_of_all(is_root ? all : std::vector<int>()));
    if (stays) {
      scatterv(comm, given.span<int>(), layout, root, stream.get(), options());
    } else {
      scatterv(comm, given.span<const int>(), layout, scattered.span<int>(), root, stream.get(), options());
    }
    synchronize(comm, stream.get());
    if (stays) {
      EXPECT_EQ(elements<int>(given), all);
    } else {
      EXPECT_EQ(elements<int>(scattered), mine);
    }
  });
}

void check_reduce_scatter(const Communicator& comm, const std::vector<std::size_t>& counts, bool in_place,
                          const CollectiveOptions& options) {
  const int ranks = comm.size();
  const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const auto me = static_cast<std::size_t>(comm.rank());
  const std::size_t first = std::accumulate(counts.begin(), counts.begin() + comm.rank(), std::size_t{0});
  std::vector<int> given(all), wanted(counts[me]);
  for (std::size_t i = 0; i < all; ++i) given[i] = static_cast<int>(i) + comm.rank();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = ranks * static_cast<int>(first + i) + ranks * (ranks - 1) / 2;
  }
  const TestStream stream;
  const DeviceMemory from(bytes_of_all(given)), to(counts[me] * sizeof(int));
  if (in_place) {
    reduce_scatter(comm, from.span<int>(), counts, ReduceOp::sum, stream.get(), options);
  } else {
    reduce_scatter(comm, from.span<const int>(), to.span<int>(), counts, ReduceOp::sum, stream.get(), options);
  }
  synchronize(comm, stream.get());
  std::vector<int> got = elements<int>(in_place ? from : to);
  got.resize(wanted.size());
  EXPECT_EQ(got, wanted);
}

TEST_P(BlockLengths, ReduceScatter) {
  on_device_ranks(ranks(), Devices::own, [](const Communicator& comm) {
    std::vector<std::size_t> counts, growing;  // growing: in place a result reaches into the rank's own block
    for (int rank = 0; rank < ranks(); ++rank) {
      counts.push_back(length(rank, 3) + (rank == 0 ? 2 : 0));
      growing.push_back(std::max<std::size_t>(unit() / 7, 1) << static_cast<unsigned>(2 * rank));
    }
    check_reduce_scatter(comm, counts, in_place(), options());
    check_reduce_scatter(comm, growing, in_place(), options());
  });
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return std::string(std::get<0>(info.param)) + "_" + std::to_string(std::get<1>(info.param)) +
         (std::get<2>(info.param) ? "_in_place" : "");
}

INSTANTIATE_TEST_SUITE_P(Every, BlockLengths,
                         testing::Combine(testing::Values("nccl", "staged"), testing::Values(1, 2, 3, 5, 8),
                                          testing::Bool(), testing::Values(7)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(OfSeveralSegments, BlockLengths,
                         testing::Combine(testing::Values("staged"), testing::Values(1, 3), testing::Bool(),
                                          testing::Values(140'000)),
                         name_of);

}  // namespace
}  // namespace chorus::test
