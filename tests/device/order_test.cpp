// SPDX-License-Identifier: Apache-2.0
// Calls on device memory in the order of their streams, and sums of products.
#include "device/device_ranks.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace chorus::test {
namespace {

using Numbers = std::vector<double>;

Numbers repeated(double value, std::size_t count = 100) { return Numbers(count, value); }

/// The sum of the ranks' numbers, counted from 1.
double sum_of(int ranks) { return ranks * (ranks + 1) / 2.0; }

class EachAlgorithm : public testing::TestWithParam<const char*> {
 protected:
  static constexpr int ranks = 3;
  void SetUp() override { skip_without_devices(GetParam(), ranks); }
};
INSTANTIATE_TEST_SUITE_P(Every, EachAlgorithm, testing::Values("nccl", "staged"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(EachAlgorithm, KeepsTheOrderOfTheStream) {
  on_device_ranks(ranks, Devices::own, [](const Communicator& comm) {
    const std::size_t count = 400'000;
    const Numbers given = repeated(comm.rank() + 1, count);
    Numbers got(count);
    const TestStream stream;
    const DeviceMemory memory(count * sizeof(double)), copy(count * sizeof(double));
    const auto address = [](const DeviceMemory& of) { return reinterpret_cast<CUdeviceptr>(of.data()); };
    for (int round = 0; round < 3; ++round) {
      check(cuMemcpyHtoDAsync(address(memory), given.data(), count * sizeof(double), stream.native()));
      allreduce(comm, memory.span<double>(), ReduceOp::sum, stream.get(), {.algorithm = GetParam()});
      check(cuMemcpyDtoDAsync(address(copy), address(memory), count * sizeof(double), stream.native()));
      stream.wait();
      EXPECT_EQ(elements<double>(copy), repeated(sum_of(ranks), count));
    }
  });
}

/// Where nothing is copied to the host, whose end the host would wait for.
TEST_P(EachAlgorithm, KeepsTheOrderWhereARankOnlyGets) {
  on_device_ranks(ranks, Devices::own, [](const Communicator& comm) {
    const Numbers given = repeated(comm.rank() + 1);
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(repeated(0)));
    bcast(comm, memory.span<double>(), 0, stream.get(), {.algorithm = GetParam()});  // connects
    stream.wait();
    if (comm.rank() != 0) put_pause(stream.native(), std::chrono::milliseconds(50));
    check(
        cuMemcpyHtoDAsync(reinterpret_cast<CUdeviceptr>(memory.data()), given.data(), memory.size(), stream.native()));
    bcast(comm, memory.span<double>(), 0, stream.get(), {.algorithm = GetParam()});
    stream.wait();
    EXPECT_EQ(elements<double>(memory), repeated(1));
  });
}

/// A factor of each rank's own; the sums of the ranks' numbers, counted from 1, times it.
template <class T>
void check_premultiplied(const Communicator& comm, const char* algorithm) {
  const int ranks = comm.size();
  const TestStream stream;
  const CollectiveOptions options{.algorithm = algorithm};
  const std::vector<T> given(static_cast<std::size_t>(6 * ranks), T(comm.rank() + 1));
  const PremultipliedSum<T> op{T(comm.rank() + 2)};
  const DeviceMemory in(bytes_of_all(given)), out(bytes_of_all(std::vector<T>(given.size(), T(0))));
  const DeviceMemory block(bytes_of_all(std::vector<T>(6, T(0))));
  allreduce(comm, in.span<const T>(), out.span<T>(), op, stream.get(), options);
  reduce_scatter_block(comm, in.span<const T>(), block.span<T>(), op, stream.get(), options);
  synchronize(comm, stream.get());
  int sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += (rank + 1) * (rank + 2);
  const std::vector<T> sums = elements<T>(out), own = elements<T>(block);
  EXPECT_TRUE(std::ranges::all_of(sums, [&](T element) { return element == T(sum); }));
  EXPECT_TRUE(std::ranges::all_of(own, [&](T element) { return element == T(sum); }));
  EXPECT_EQ(elements<T>(in), given);
  std::vector<std::size_t> counts(static_cast<std::size_t>(ranks), 5);
  counts[0] = static_cast<std::size_t>(ranks) + 5;
  reduce_scatter(comm, in.span<T>(), counts, op, stream.get(), options);
  synchronize(comm, stream.get());
  EXPECT_EQ(elements<T>(in)[4], T(sum));
}

TEST_P(EachAlgorithm, MultipliesBeforeASum) {
  on_device_ranks(ranks, Devices::own, [](const Communicator& comm) {
    check_premultiplied<double>(comm, GetParam());
    check_premultiplied<float>(comm, GetParam());
    check_premultiplied<float16_t>(comm, GetParam());
    check_premultiplied<bfloat16_t>(comm, GetParam());
    check_premultiplied<int>(comm, GetParam());
    check_premultiplied<std::uint8_t>(comm, GetParam());
  });
}

TEST_P(EachAlgorithm, MultipliesLongVectors) {
  on_device_ranks(ranks, Devices::own, [](const Communicator& comm) {
    const std::size_t count = 300'000;
    const TestStream stream;
    const DeviceMemory memory(bytes_of_all(repeated(comm.rank() + 1, count)));
    allreduce(comm, memory.span<double>(), PremultipliedSum<double>{2}, stream.get(), {.algorithm = GetParam()});
    synchronize(comm, stream.get());
    EXPECT_EQ(elements<double>(memory), repeated(2 * sum_of(ranks), count));
  });
}

TEST_P(EachAlgorithm, WorksOnTheDefaultStream) {
  on_device_ranks(ranks, Devices::own, [](const Communicator& comm) {
    const DeviceMemory memory(bytes_of_all(repeated(comm.rank() + 1)));
    allreduce(comm, memory.span<double>(), ReduceOp::max, Stream(), {.algorithm = GetParam()});
    synchronize(comm, Stream());
    EXPECT_EQ(elements<double>(memory), repeated(ranks));
  });
}

}  // namespace
}  // namespace chorus::test
