// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "base/section.hpp"

#include <cstdint>
#include <span>

namespace chorus {

/// The vendor's own collectives (MPI's) over the ranks of a transport.
class Native {
 public:
  struct Buffers {
    const std::byte* in = nullptr;  ///< equal to `out` in place
    std::byte* out = nullptr;
    std::span<const Section> in_sections = {};   ///< where blocks differ in length: what goes to each rank
    std::span<const Section> out_sections = {};  ///< and what comes from it
  };
  Native() = default;
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;
  virtual ~Native() = default;

  /// True where the vendor can carry out `call`, and is known to do it right.
  [[nodiscard]] virtual bool supports(const Call& call) const noexcept = 0;
  /// Carries it out; blocks.
  virtual void run(const Call& call, const Buffers& buffers) = 0;
  /// Starts it; the ticket is for `test`.
  [[nodiscard]] virtual std::uint64_t start(const Call& call, const Buffers& buffers) = 0;
  /// True once it is complete.
  [[nodiscard]] virtual bool test(std::uint64_t& ticket) = 0;
};

namespace detail {
class CommunicatorState;
}

/// True where the chooser leaves a blocking `call` to the vendor, so that it may be called at once: not before the
/// communicator's first call, nor where a time limit is set or the ranks' calls are compared.
[[nodiscard]] bool left_to_vendor(detail::CommunicatorState& state, Call call);

}  // namespace chorus
