// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// The lengths, in bytes, at which machines begin to behave otherwise: built in, as nothing measures them at run time.
// How long something takes is in LinkModel. docs/performance.md says where each number is from.
namespace chorus::machine {

/// Of a data slot, where CHORUS_SLOT_BYTES says nothing.
inline constexpr std::size_t slot_bytes = std::size_t{128} << 10U;
/// The unit of a pipeline, through slots or in messages: shorter than a slot may be, so that the pipeline fills early.
inline constexpr std::size_t longest_segment = std::size_t{64} << 10U;
/// The same where a slot holds a part for each rank.
inline constexpr std::size_t longest_segment_of_parts = std::size_t{128} << 10U;
/// What goes along a lane at a time at the least, so that calls of many segments take no time of their own.
inline constexpr std::size_t shortest_segment_of_lane = std::size_t{8} << 10U;
/// The same down a tree.
inline constexpr std::size_t shortest_segment_of_tree = std::size_t{2} << 10U;
/// What is read again at once is handled in pieces of this length, which a first-level cache holds.
inline constexpr std::size_t near_piece = std::size_t{16} << 10U;

/// Below it plain stores into shared memory are faster than streamed ones, or lose little.
inline constexpr std::size_t streaming_from = 8192;
/// What a rank fetches of another while it waits for it, at the most: more is taken from who still writes it.
inline constexpr std::size_t fetched_in_wait = 256;
/// From the one to the other a loop of vectors may copy faster than memcpy, which leaves it to one instruction.
inline constexpr std::size_t vectors_from = 4096;
inline constexpr std::size_t vectors_to = std::size_t{4} << 20U;

/// Blocks that a core's own caches do not hold beside other data: the system copies them at its long pace.
inline constexpr std::size_t long_block = std::size_t{256} << 10U;
/// Blocks that they surely do not hold: the length at which the long pace is measured, and from which on a copy within
/// a rank may be faster past the caches.
inline constexpr std::size_t beyond_caches = std::size_t{1} << 20U;

/// After so much data the pace of shared memory is measured again: often enough where a machine is moved every second,
/// and so seldom that it takes no more than a hundredth of the time.
inline constexpr std::size_t pace_lasts = std::size_t{256} << 20U;
/// It is measured again by no more than so much.
inline constexpr std::size_t pace_renewed_by = std::size_t{64} << 10U;

/// Where both ends copy parts of a block, each part is of whole pages, which the system looks up one by one.
inline constexpr std::size_t page = 4096;

/// Below it nothing is gained by registered memory: such data goes with the arrival, or is in a cell.
inline constexpr std::size_t registered_from = std::size_t{16} << 10U;

/// Below it reductions do not let others read registered memory where cores are far apart.
inline constexpr std::size_t lent_by_far_cores_from = std::size_t{256} << 10U;

/// What passes through the host from a device at a time, of all blocks together: long against what a copy takes to
/// start, and short enough that the copies of long calls are hidden.
inline constexpr std::size_t staged_at_once = std::size_t{1} << 20U;

/// Below it CUDA's driver writes a row of bytes to a device by the cores of that, for which processes that share it
/// take turns; two rows it writes by the copy engine.
inline constexpr std::size_t written_by_cores_below = std::size_t{32} << 10U;

/// Half of a window into a device's memory, which other ranks' devices read: what goes through it at a time. Long,
/// as each segment costs turns where processes share a device.
inline constexpr std::size_t window_half = std::size_t{16} << 20U;
/// What is written to windows and read from them when their pace is measured: long against what a step takes.
inline constexpr std::size_t device_pace_bytes = std::size_t{4} << 20U;

/// What a rank collects of the other ranks of its node, to send it to other nodes, at the most.
inline constexpr std::size_t collected_at_most = std::size_t{4} << 20U;

/// The memory that elements carried as wider ones take at a time.
inline constexpr std::size_t wider_at_once = std::size_t{8} << 20U;

}  // namespace chorus::machine
