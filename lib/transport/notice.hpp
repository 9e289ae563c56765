// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"
#include "transport/shared_region.hpp"

#include <chorus/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace chorus {

/// What ranks that do not share memory tell each other out of turn.
struct Notice {
  /// A failure; whether the other waits, too, and that it does; that `rank` has ended after `calls`, or before the
  /// set-up after so many that were refused.
  enum class Kind : std::uint8_t { failure, question, answer, end, early_end };
  Kind kind = Kind::failure;
  std::int32_t rank = 0;
  std::uint64_t calls = 0;
  ErrorCode code = ErrorCode::broken;
  std::array<char, failure_text_bytes> text{};

  [[nodiscard]] std::size_t text_length() const noexcept { return strnlen(text.data(), text.size()); }
  /// As it is sent: no longer than its text.
  [[nodiscard]] ConstBytes message() const noexcept {
    return bytes_of(*this).first(offsetof(Notice, text) + text_length());
  }
};

}  // namespace chorus
