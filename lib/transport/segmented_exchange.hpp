// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace chorus {

/// A long message out, a long message in, or both, between nodes: cut into segments, of which several are on their way.
/// MPI sends such as these at once: before those of 64 KiB and more it asks, and the answer waits behind other data.
class SegmentedExchange {
 public:
  struct Message {
    std::byte* data = nullptr;  ///< only read, of one out
    std::size_t bytes = 0;
    int rank = MPI_PROC_NULL;  ///< on the communicator
  };
  /// Starts it. Throws Error{transport}.
  SegmentedExchange(MPI_Comm comm, int tag, const Message& out, const Message& in);
  SegmentedExchange(const SegmentedExchange&) = delete;
  SegmentedExchange& operator=(const SegmentedExchange&) = delete;
  /// Gives up what is on its way: what it points to is not touched afterwards, but where MPI cannot take it back.
  ~SegmentedExchange();

  /// Of a segment, and of messages that are not cut. Both sides must do so alike.
  static constexpr std::size_t longest_whole = std::size_t{32} << 10U;
  static constexpr std::size_t most_under_way = 8;

  /// Moves it on; true once all of both messages is done. Throws Error{transport}.
  [[nodiscard]] bool progress();
  /// How many segments have come or gone.
  [[nodiscard]] std::uint64_t moved() const noexcept { return moved_; }
  /// True once something else has come than was expected: the exchange cannot end.
  [[nodiscard]] bool is_unexpected() const noexcept { return unexpected_; }

 private:
  /// The segments of one message.
  struct Stream {
    Message message;
    std::size_t started = 0;  // bytes
    std::array<MPI_Request, most_under_way> under_way{};
    std::array<std::size_t, most_under_way> lengths{};
    std::size_t oldest = 0;
    std::size_t count = 0;

    [[nodiscard]] bool done() const noexcept { return count == 0 && started == message.bytes; }
    [[nodiscard]] bool may_start() const noexcept { return count < under_way.size() && started < message.bytes; }
    [[nodiscard]] std::size_t next_length() const noexcept;
  };
  SegmentedExchange(MPI_Comm comm, int tag) noexcept;
  void start(Stream& stream, bool out);
  bool move(Stream& stream, bool out);

  MPI_Comm comm_;
  int tag_;
  Stream out_;
  Stream in_;
  std::uint64_t moved_ = 0;
  bool unexpected_ = false;
};

}  // namespace chorus
