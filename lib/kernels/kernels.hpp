// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/element.hpp>
#include <chorus/reduce_op.hpp>

#include <cstddef>
#include <span>

// Copies and reductions of host memory, vectorised for the processor the program runs on (Google Highway's run-time
// dispatch). Every pointer may have any alignment.
namespace chorus::kernels {

/// How results are written. `streamed` (non-temporal) stores go past the caches: for memory that another core read
/// last and this one will not read soon. A streamed write is ordered before later stores when the function returns.
/// Results are the same; what does not fill a cache line, or lies at an address that its elements do not divide, is
/// written by cached stores even so.
enum class Store { cached, streamed };

/// Copies `bytes` from `in` to `out`; they do not overlap. Of 1 MiB and more cached stores give way to streamed ones
/// where those have been faster.
void copy(std::byte* out, const std::byte* in, std::size_t bytes, Store store);

/// What `copy` copies some KiB and more by where it does not stream them: the C library's memcpy, which leaves these to
/// one instruction of many processors, or a loop of vectors. Which is faster differs between processors.
enum class CopyBy { library, vectors };
/// For the whole process, where it is the library before. Any thread, any time.
void set_copy_by(CopyBy by) noexcept;

/// True where `op` is defined on `type` (see ReduceOp). `average` counts as `sum` here.
[[nodiscard]] bool supports(DataType type, ReduceOp op) noexcept;

/// out[i] = inputs[0][i] op inputs[1][i] op ... from left to right, for `count` elements: one pass over memory.
/// One input or more; `out` may be the same as one of them (with cached stores) and overlaps none otherwise. `average`
/// adds: see `divide`. float16 and bfloat16 accumulate in float and round once, and their `average` divides by the
/// number of inputs before that.
using Reduce = void (*)(std::byte* out, std::span<const std::byte* const> inputs, std::size_t count, Store store);
/// The kernel for a supported pair, else null.
[[nodiscard]] Reduce reduce(DataType type, ReduceOp op) noexcept;

/// As `reduce` by sum, but exact: each sum is rounded once, and its bits do not depend on the order of the inputs (see
/// ExactSum). Writes by cached stores. For float32, float64 and their complex types, else null.
[[nodiscard]] Reduce exact_sum(DataType type) noexcept;

/// Makes floats of `count` elements of a 16-bit type; those of type `type`, which is one of these two.
using Widen = void (*)(std::byte* floats, const std::byte* halves, std::size_t count);
[[nodiscard]] Widen widen(DataType type) noexcept;

/// Makes elements of a 16-bit type of `count` floats, divided by `divisor`.
using Narrow = void (*)(std::byte* halves, const std::byte* floats, std::size_t count, int divisor);
[[nodiscard]] Narrow narrow(DataType type) noexcept;

/// inout[i] = inout[i] / ranks: turns a sum into an average; integers are truncated towards zero. Nothing is done to
/// 16-bit floats: see `Reduce`.
void divide(std::byte* inout, std::size_t count, DataType type, int ranks);

}  // namespace chorus::kernels
