// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "buffer.hpp"
#include "console.hpp"
#include "device/plain_nccl.hpp"
#include "device_table.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "report.hpp"
#include "table.hpp"

#include <chorus/communicator.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::bench {

/// What calls on memory of this rank's device need.
struct OnDevice {
  /// Called by all ranks; of the calling thread's device.
  OnDevice(const Options& options, const Communicator& world);

  std::string name;  ///< of the device
  DeviceStream stream;
  std::unique_ptr<PlainNccl> nccl;  ///< where NCCL is compared with
};

/// The sizes in bytes that are measured of `row`, for which there is memory for each algorithm. Called by all ranks.
/// Throws   Refusal where the options ask for none that can be measured.
[[nodiscard]] std::vector<std::size_t> sizes_of(const Options& options, const Row& row, int ranks);

/// One collective, with the buffers for its sizes, to be called and checked. Every function is called by all ranks.
class Subject {
 public:
  /// All of them outlive it. Throws   Refusal as `sizes_of`.
  Subject(const Options& options, const Row& row, const Communicator& world, Console& console);

  [[nodiscard]] const Row& row() const noexcept { return row_; }
  /// More ranks than processors on a node.
  [[nodiscard]] bool crowded() const noexcept { return crowded_; }
  [[nodiscard]] std::span<const std::size_t> sizes() const noexcept { return sizes_; }
  /// `algorithm`: a registered name, or "auto". Each has buffers of its own: ranks may read each other's, and whoever
  /// writes there next waits for the lines that they have read.
  [[nodiscard]] Call call_of(std::string_view algorithm, std::size_t bytes);
  /// What carries it out.
  [[nodiscard]] Run run() const noexcept { return device_row_ != nullptr ? device_row_->chorus : row_.chorus; }
  /// The same of the peer, where one is compared with.
  [[nodiscard]] Call peer_call(std::size_t bytes);
  [[nodiscard]] Run peer_run() const;
  /// The names of the algorithms that work on such memory as is measured.
  [[nodiscard]] std::vector<std::string_view> algorithms() const;
  /// That of this rank's device; empty where memory of the host is measured.
  [[nodiscard]] std::string_view device() const noexcept { return on_device_ ? on_device_->name : std::string_view(); }
  /// The one that the library chooses; empty where it chooses none, for calls on a device that have no elements.
  [[nodiscard]] std::string chosen_algorithm(std::size_t bytes);
  /// A point of which nothing was measured yet.
  [[nodiscard]] Point point_of(std::string_view algorithm, std::size_t bytes) const;

  /// Whether the algorithm of `point` can carry out its size, which is noted there with whether the data was right. A
  /// warning says where not.
  [[nodiscard]] bool try_out(const Call& call, Point& point);
  /// Whether a call made by `run` gives this rank the right data.
  [[nodiscard]] bool is_right(const Call& call, const AnyRun& run) const;
  /// Whether the data is right on all ranks; a warning about `side` says where not.
  [[nodiscard]] bool validate(const Call& call, const AnyRun& run, const Point& point, std::string_view side);
  /// Notes the samples of `point`'s algorithm.
  void note(const Samples& samples, Point& point) const;
  /// As many repetitions as the OSU benchmarks make, in so many seconds at most, unless the user said how many.
  [[nodiscard]] Effort effort(std::size_t bytes, double seconds) const;

 private:
  const Options& options_;
  const Row& row_;
  Communicator world_;
  Console& console_;
  std::vector<std::size_t> sizes_;
  bool crowded_;
  const DeviceRow* device_row_ = nullptr;  // null where memory of the host is measured
  std::unique_ptr<OnDevice> on_device_;
  struct Buffers {
    Buffer in, out;
  };
  std::map<std::string, Buffers, std::less<>> buffers_;  // by algorithm
};

}  // namespace chorus::bench
