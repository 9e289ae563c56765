// SPDX-License-Identifier: Apache-2.0
// The benchmark's calls on memory of devices, by chorus and by NCCL itself, on ranks that are threads.
#include "device_table.hpp"

#include "buffer.hpp"
#include "device/device_memory.hpp"
#include "device/device_ranks.hpp"
#include "device/plain_nccl.hpp"

#include <chorus/chorus.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace chorus::bench {
namespace {

constexpr std::size_t count_per_rank = 64;

/// A rank's buffers for one row, and NCCL's communicator of the ranks.
class Rank {
 public:
  Rank(const Communicator& world, const Row& row, const std::string& address)
      : row_(row),
        lengths_(row.lengths(count_per_rank * static_cast<std::size_t>(world.size()),
                             static_cast<std::size_t>(world.size()))),
        nccl_(address, world.rank(), world.size()),
        in_(lengths_.in, Memory::device),
        out_(lengths_.out, Memory::device),
        call_{world, in_.first(lengths_.in), out_.first(lengths_.out), {}, &stream_, &nccl_} {}

  [[nodiscard]] bool is_right(const AnyRun& run, std::string_view algorithm = "") {
    call_.options.algorithm = algorithm;
    return validate_on_device(row_, call_, run, stream_);
  }

 private:
  const Row& row_;
  Lengths lengths_;
  PlainNccl nccl_;
  DeviceStream stream_;
  Buffer in_, out_;
  Call call_;
};

class EveryDeviceRow : public testing::TestWithParam<Row> {};

TEST_P(EveryDeviceRow, IsRightByEachAlgorithmAndByNcclAndFoundWrongWhereNothingIsDone) {
  const Row& row = GetParam();
  const DeviceRow& device = *device_row(row.name);
  for (const int ranks : {1, 3, 4}) {
    test::check(cuInit(0));
    const std::string address = PlainNccl::new_address();
    test::on_device_ranks(ranks, test::Devices::own, [&](const Communicator& world) {
      Rank rank(world, row, address);
      EXPECT_TRUE(rank.is_right(device.chorus, "nccl")) << row.name;
      EXPECT_TRUE(rank.is_right(device.chorus, "staged")) << row.name;
      EXPECT_TRUE(rank.is_right(device.nccl)) << row.name;
      barrier(world);
      if (world.rank() != root || row.name == "bcast") return;
      EXPECT_FALSE(rank.is_right([](const bench::Call&) {})) << row.name;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryDeviceRow, testing::ValuesIn(nccl_rows().begin(), nccl_rows().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(DeviceTable, KnowsWhatTakesMemoryOfDevices) {
  EXPECT_EQ(device_rows().size(), 13U);
  EXPECT_EQ(nccl_rows().size(), 8U);
  EXPECT_EQ(device_row("scan"), nullptr);
  EXPECT_EQ(device_row("allgatherv")->nccl, nullptr);
}

TEST(DeviceStream, CopiesToItsDeviceAndBack) {
  test::on_device_ranks(2, test::Devices::own, [](const Communicator& world) {
    use_device(5 - world.rank());
    EXPECT_EQ(current_device(), 5 - world.rank());
    const DeviceStream stream;
    const DeviceBuffer buffer(3), empty(0);
    const std::string text = "abc";
    std::string copy(3, ' ');
    stream.copy_to_device(buffer.data(), std::as_bytes(std::span(text)));
    stream.copy_to_host(std::as_writable_bytes(std::span(copy)), buffer.data());
    stream.wait();
    EXPECT_EQ(copy, text);
    EXPECT_EQ(empty.data(), nullptr);
  });
}

}  // namespace
}  // namespace chorus::bench
