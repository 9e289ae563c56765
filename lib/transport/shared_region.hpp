// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "task/wait.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

// What lies in the memory that a rank shares with the others of its node, for one communicator (shared_group.hpp).
namespace chorus {

using Round = std::uint64_t;

inline constexpr std::size_t payload_bytes = 56;
inline constexpr int line_slots = 256;
inline constexpr int data_slots = 8;
/// Of what a rank says when it gives the communicator up, with the 0 at its end: what MPI sends at once in one message.
inline constexpr std::size_t failure_text_bytes = 4032;
/// How far ahead a rank fetches its slots and long cells, which others had read: so far that nobody waits for those
/// yet.
inline constexpr Round places_fetched = 6;
/// For how many rounds at a time a rank takes its lines and cells back, which others had read.
inline constexpr Round rounds_taken_back = 16;
/// Which of `count` places, a power of two, `round` has: not the next one. A processor that has read one line after
/// another fetches the one behind them, too, and so takes it from the rank that is about to write it.
constexpr std::size_t place_of(Round round, int count) noexcept {
  constexpr Round apart = 37;  // of lines more than a page, over which no processor fetches
  return round * apart % static_cast<Round>(count);
}

/// Memory of another process that this one has mapped: where it lies there, and here.
struct Window {
  std::uint64_t there = 0;
  const std::byte* here = nullptr;
  std::size_t bytes = 0;
};

/// One rank's arrival: round in the upper 24 bits of `word`, signature of the calls so far below.
struct alignas(64) Line {
  std::atomic<std::uint64_t> word{0};
  std::byte payload[payload_bytes];
};

/// The last calls a rank has begun, for those who report that ranks differ or are missing.
struct CallRecord {
  std::atomic<std::uint64_t> number{0};  ///< counts this rank's calls on the communicator, from 1
  std::atomic<std::uint64_t> kind{0};    ///< this and the next two are a PackedCall
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> numbers{0};
};
inline constexpr int call_records = line_slots;  // as many calls may one rank be ahead of another

/// What one rank writes and the others of its node read; its cells and its data slots follow it.
struct ControlPage {
  alignas(128) Bell bell;
  alignas(128) std::atomic<std::uint32_t> failure{0};    ///< ErrorCode + 1 once this rank has given the communicator up
  std::atomic<std::uint32_t> left{0};                    ///< ranks that will not look here again; they add themselves
  std::atomic<bool> calls_ended{false};                  ///< this rank makes no more calls
  std::atomic<bool> closed{false};                       ///< nobody touches this rank's own memory any more
  std::atomic<std::uint32_t> touches{0};                 ///< the rank whose own memory this one touches + 1; 0: none
  std::atomic<std::uint64_t> stream_calls{0};            ///< of this rank's, put into streams: no round tells of them
  alignas(128) std::atomic<std::uint64_t> pace_ends{0};  ///< from this call on this rank wants the pace measured again
  alignas(128) std::atomic<std::uint64_t> receipt{0};    ///< twice the round in which this rank has copied; 1 more: all
  alignas(128) std::array<CallRecord, call_records> calls;
  struct alignas(128) PaddedLine {  // two lines apart: processors fetch lines in pairs
    Line line;
  };
  std::array<PaddedLine, line_slots> lines;
  std::array<char, failure_text_bytes> failure_text{};  ///< written before `failure`
};
inline constexpr std::size_t control_bytes = 49152;
static_assert(sizeof(ControlPage) <= control_bytes);

/// From one data slot to the next: where slots are a power of two long it is none, nor a multiple of a page, so that
/// the beginnings of all slots fit into each cache together.
constexpr std::size_t slot_stride(std::size_t slot_bytes) noexcept { return slot_bytes + slot_bytes / 512 * 64 + 1024; }

/// Places for short data, of which there are more than slots, so that who waits for nobody may go on for long.
struct Cells {
  int count = 0;
  std::size_t bytes = 0;   ///< length of one
  std::size_t stride = 0;  ///< from one to the next
  std::size_t begin = 0;   ///< of the first, in the region

  [[nodiscard]] constexpr std::size_t end() const noexcept { return begin + static_cast<std::size_t>(count) * stride; }
};
inline constexpr Cells short_cells{.count = 256, .bytes = 1024, .stride = 1024, .begin = control_bytes};
inline constexpr Cells long_cells{.count = 32, .bytes = 16384, .stride = 17408, .begin = short_cells.end()};

/// Where slots are short, so that a rank takes little memory, there are no cells that are longer.
constexpr bool has_long_cells(std::size_t slot_bytes) noexcept { return slot_bytes > long_cells.bytes; }
/// Where the first data slot lies in the region.
constexpr std::size_t slots_begin(std::size_t slot_bytes) noexcept {
  return has_long_cells(slot_bytes) ? long_cells.end() : short_cells.end();
}
/// Length of a rank's region: the control page, the cells and the data slots.
constexpr std::size_t region_bytes(std::size_t slot_bytes) noexcept {
  return slots_begin(slot_bytes) + data_slots * slot_stride(slot_bytes);
}

}  // namespace chorus
