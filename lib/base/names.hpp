// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace chorus {

/// The enumerator's name, as it is spelled in the source.
[[nodiscard]] std::string_view name(Collective collective) noexcept;
[[nodiscard]] std::optional<Collective> collective_named(std::string_view name) noexcept;
[[nodiscard]] std::span<const std::string_view> collective_names() noexcept;

/// "allreduce of 4 float32 by sum", "bcast of 4 float32 with root 2".
[[nodiscard]] std::string describe(const Call& call);
[[nodiscard]] bool has_op(Collective collective) noexcept;
[[nodiscard]] bool has_root(Collective collective) noexcept;

/// The one of `known` that `word` is a misspelling of, by edits of no more than a third of the letters, or else the
/// longest that has words more or less, as FILE and TUNING_FILE; empty where there is none, or several as long.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> known);
/// What to write instead of a `word` that is unknown: `did you mean "ring"? There are ring, line, native`, or where
/// none looks like it "there are ring, line, native".
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> known);

/// Of `words` of a command line that have no meaning: `not understood: --algoritm ring; did you mean --algorithm?`, the
/// question where the first looks like one of the `options`, which are given as --algorithm or -m.
[[nodiscard]] std::string not_understood(std::span<const std::string> words, std::span<const std::string> options);

/// "ring, line, native"
[[nodiscard]] std::string joined(std::span<const std::string_view> words);

/// A number of bytes like "8", "64k", "1MiB" (k, m, g are powers of 1024, in any case, optionally with B or iB).
[[nodiscard]] std::optional<std::size_t> parse_bytes(std::string_view text) noexcept;

}  // namespace chorus
