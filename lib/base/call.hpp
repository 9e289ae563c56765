// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/reduce_op.hpp>

#include <cstddef>
#include <cstdint>

namespace chorus {

/// The collectives, by MPI's names. `lib` knows them as words only: to sign, record and report calls.
enum class Collective : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  allgather,
  reduce_scatter_block,
  alltoall,
  gather,
  scatter,
  scan,
  exscan,
  allgatherv,
  gatherv,
  scatterv,
  alltoallv,
  alltoallw,
  reduce_scatter
};
inline constexpr int collective_count = 17;

/// True where blocks differ in length and every rank knows all lengths.
[[nodiscard]] constexpr bool counts_are_known(Collective collective) noexcept {
  return collective == Collective::allgatherv || collective == Collective::reduce_scatter;
}
/// True where no rank knows the counts of all, so that a Call has none.
[[nodiscard]] constexpr bool counts_differ(Collective collective) noexcept {
  return collective == Collective::gatherv || collective == Collective::scatterv ||
         collective == Collective::alltoallv || collective == Collective::alltoallw;
}

/// What a Call names where ranks make communicators of one together, by the functions of Communicator. That of a subset
/// has the number of its ranks for `root` and number_of_list for `count`.
inline constexpr auto splitting = static_cast<Collective>(255);
inline constexpr auto duplicating = static_cast<Collective>(254);
inline constexpr auto choosing_subset = static_cast<Collective>(253);
inline constexpr auto joining_node = static_cast<Collective>(252);
inline constexpr auto joining_leaders = static_cast<Collective>(251);
/// And where a rank gives a communicator up, alone.
inline constexpr auto revoking = static_cast<Collective>(250);
/// And where a rank asks how it reaches the others.
inline constexpr auto asking_for_memory = static_cast<Collective>(249);
/// And where ranks make the vendor's collectives known to a communicator, before the first call that names them.
inline constexpr auto finding_native = static_cast<Collective>(248);
/// And where a rank waits for a stream of its device, alone.
inline constexpr auto awaiting_stream = static_cast<Collective>(247);
/// And where ranks share the GPUs of their nodes out among them.
inline constexpr auto assigning_gpus = static_cast<Collective>(246);

/// What a Call names instead of a ReduceOp where the operation is a function of the caller's.
inline constexpr auto commutative_function = static_cast<ReduceOp>(254);
inline constexpr auto ordered_function = static_cast<ReduceOp>(255);

/// True for the 16-bit floats, which are joined in float.
[[nodiscard]] constexpr bool is_half(DataType type) noexcept {
  return type == DataType::float16 || type == DataType::bfloat16;
}

/// Whose memory the buffers of a call are in.
enum class Memory : std::uint8_t { host, device };

/// What is asked of the bits of a reduction's result (see CollectiveOptions).
enum class Repeatability : std::uint8_t { none, deterministic, reproducible };

/// What the ranks of a communicator must agree about when they call a collective.
struct Call {
  Collective collective = Collective::barrier;
  DataType type = DataType::uint8;
  ReduceOp op = ReduceOp::sum;
  int root = 0;  ///< where counts_are_known: a checksum of the counts
  /// Elements of a rank's vector; of one block where a vector has one for each rank; of all blocks together where their
  /// lengths differ and every rank knows them, and 0 where none does.
  std::size_t count = 0;
  std::uint8_t algorithm = 0;  ///< its place in the list of the collective's algorithms, from 1; 0: not said
  Repeatability repeatability = Repeatability::none;
  Memory memory = Memory::host;
  std::uint32_t opaque_bytes = 0;  ///< the size of an opaque element; 0 for other types
  std::uint32_t purpose = 0;       ///< CallPurpose::number

  [[nodiscard]] std::size_t element_bytes() const noexcept {
    return type == DataType::opaque ? opaque_bytes : size_of(type);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return count * element_bytes(); }
  /// The longest run of whole elements that fits into `limit` bytes.
  [[nodiscard]] std::size_t whole_bytes(std::size_t limit) const noexcept {
    return limit / element_bytes() * element_bytes();
  }
  /// True where operands may be exchanged; where not, algorithms join them in the order of the ranks.
  [[nodiscard]] bool commutes() const noexcept { return op != ordered_function; }
  friend bool operator==(const Call&, const Call&) = default;
};

/// A field of a call that was just made, read by itself. Compilers read several at once, and a processor that is to
/// read in one piece what was written in several waits until all it has written before is in its cache: as long as a
/// line takes to come from another core.
template <class Field>
[[nodiscard]] inline Field alone(Field field) noexcept {
  asm("" : "+r"(field));
  return field;
}

/// True for calls that an algorithm is chosen alike for: all but the root is the same. `made` was just made.
[[nodiscard]] inline bool same_kind(const Call& known, const Call& made) noexcept {
  return known.count == alone(made.count) && known.collective == alone(made.collective) &&
         known.type == alone(made.type) && known.op == alone(made.op) &&
         known.repeatability == alone(made.repeatability) && known.memory == alone(made.memory) &&
         known.opaque_bytes == alone(made.opaque_bytes);
}

/// A number that is equal for calls of the same kind, and most often different for others, its last bits alone, too: a
/// product's bits depend on no higher ones of its factors.
[[nodiscard]] constexpr std::uint64_t kind_hash(const Call& call) noexcept {
  const std::uint64_t kind = static_cast<std::uint64_t>(call.collective) | static_cast<std::uint64_t>(call.op) << 8U |
                             static_cast<std::uint64_t>(call.type) << 16U;
  return (call.count ^ call.count >> 32U ^ kind << 8U) * 0x9E3779B97F4A7C15U >> 32U;
}

/// A call in three words: what other ranks compare and read.
struct PackedCall {
  std::uint64_t kind = 0;  ///< collective, type, memory, repeatability, op, algorithm, root
  std::uint64_t count = 0;
  std::uint64_t numbers = 0;  ///< opaque_bytes, purpose
};

[[nodiscard]] constexpr PackedCall packed(const Call& call) noexcept {
  static_assert(data_type_count <= 1 << 5U);
  return {static_cast<std::uint64_t>(call.collective) | static_cast<std::uint64_t>(call.type) << 8U |
              static_cast<std::uint64_t>(call.memory) << 13U | static_cast<std::uint64_t>(call.repeatability) << 14U |
              static_cast<std::uint64_t>(call.op) << 16U | static_cast<std::uint64_t>(call.algorithm) << 24U |
              static_cast<std::uint64_t>(static_cast<std::uint32_t>(call.root)) << 32U,
          call.count, call.opaque_bytes | static_cast<std::uint64_t>(call.purpose) << 32U};
}

[[nodiscard]] constexpr Call unpacked(const PackedCall& words) noexcept {
  return {.collective = static_cast<Collective>(words.kind & 0xFFU),
          .type = static_cast<DataType>(words.kind >> 8U & 0x1FU),
          .op = static_cast<ReduceOp>(words.kind >> 16U & 0xFFU),
          .root = static_cast<int>(words.kind >> 32U),
          .count = words.count,
          .algorithm = static_cast<std::uint8_t>(words.kind >> 24U & 0xFFU),
          .repeatability = static_cast<Repeatability>(words.kind >> 14U & 0x3U),
          .memory = static_cast<Memory>(words.kind >> 13U & 0x1U),
          .opaque_bytes = static_cast<std::uint32_t>(words.numbers),
          .purpose = static_cast<std::uint32_t>(words.numbers >> 32U)};
}

/// 40 bits that are the same on ranks that make the same call, and almost surely different otherwise.
[[nodiscard]] constexpr std::uint64_t signature(const PackedCall& call) noexcept {
  const std::uint64_t word =
      call.kind ^ call.numbers * 0xA0761D6478BD642FU ^ call.count * 0x9E3779B97F4A7C15U;  // a bijection of each
  return word * 0xD6E8FEB86659FD93U >> 24U;
}

}  // namespace chorus
