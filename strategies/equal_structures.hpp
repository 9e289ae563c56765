// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace chorus::detail {

/// The first worker whose structure_number differs from worker 0's, the same on all; none where all are equal. All call
/// it.
[[nodiscard]] std::optional<std::size_t> worker_with_other_structure(const Communicator& workers, std::uint64_t mine,
                                                                     std::chrono::nanoseconds timeout);

/// Throws Error{mismatch}, which begins with `function`.
[[noreturn]] void reject_structure_of_worker(std::size_t worker, const char* function);

}  // namespace chorus::detail
