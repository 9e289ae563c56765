// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "table.hpp"

#include <span>
#include <string_view>

namespace chorus::bench {

/// A collective on memory of devices: its runs return when the call is in the call's stream.
struct DeviceRow {
  std::string_view name;  ///< that of its row in table()
  Run chorus = nullptr;
  Run nccl = nullptr;  ///< null where NCCL has nothing of the kind
};

/// That of a collective of table(); null where it takes memory of the host alone.
[[nodiscard]] const DeviceRow* device_row(std::string_view collective);
/// The rows of table() that take memory of devices, and those of them that NCCL has, too.
[[nodiscard]] std::span<const Row> device_rows();
[[nodiscard]] std::span<const Row> nccl_rows();

/// The check of `row` for a `call` on memory of a device: its known data is copied there, in the order of `stream`, and
/// the result to the host. Called by all ranks.
[[nodiscard]] bool validate_on_device(const Row& row, const Call& call, const AnyRun& run, const DeviceStream& stream);

}  // namespace chorus::bench
