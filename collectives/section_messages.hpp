// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace chorus {

// What sections (sections.hpp) go by messages, and between whom.

/// Ranks from `first` to before `end`.
struct Ranks {
  int first = 0;
  int end = 0;
  [[nodiscard]] bool contain(int rank) const { return rank >= first && rank < end; }
  static Ranks all_of(const Transport& transport) { return {0, transport.size()}; }
  static Ranks only(int rank) { return {rank, rank + 1}; }
};

/// Those that `transport`'s rank gives something, but for itself.
[[nodiscard]] Ranks receivers(const Transport& transport, const Call& call);
/// Those it gets something from, but for itself.
[[nodiscard]] Ranks givers(const Transport& transport, const Call& call);

/// In place each block that comes overwrites the one that goes: true where others than this rank's own may.
[[nodiscard]] bool swaps(const Arguments& arguments) noexcept;

/// What a rank gives to each.
struct Input {
  const std::byte* bytes;
  std::span<const Section> sections;
};

[[nodiscard]] inline Input input_of(const Arguments& arguments) { return {arguments.in, arguments.in_sections}; }

/// A copy of the input, one section after another behind their table.
class InputCopy {
 public:
  InputCopy(Transport& transport, const Arguments& arguments);
  [[nodiscard]] const Input& input() const noexcept { return input_; }

 private:
  Scratch memory_;
  Input input_{};
};

/// What a rank gives, as it is before anything comes.
class Given {
 public:
  Given(Transport& transport, const Arguments& arguments) : input_(input_of(arguments)) {
    if (swaps(arguments)) input_ = copy_.emplace(transport, arguments).input();
  }
  [[nodiscard]] const Input& input() const noexcept { return input_; }

 private:
  std::optional<InputCopy> copy_;
  Input input_;
};

/// Throws Error{mismatch} where a rank gives a section of another length than the rank that gets it expects.
void check_length(const Call& call, int giver, std::size_t given, int receiver, std::size_t expected);

/// Copies what this rank, number `me`, has for itself.
void copy_own(const Arguments& arguments, std::size_t me);

/// The ranks a rank gives to and gets from at the same time; no_rank: none.
struct Step {
  int ahead = no_rank;
  int behind = no_rank;
};

/// Gives and gets by messages.
[[nodiscard]] Exchange pass_in_step(Transport& transport, const Arguments& arguments, const Input& in, const Step& step,
                                    Where where = Where::here());

/// As pass_in_rows (sections.hpp), between any ranks but for messages of nothing: of sections whose lengths were
/// compared before.
Task<> pass_what_is_there(Transport& transport, Arguments arguments);
/// Of so many messages that a rank sends in rows, those that are under way beside another one.
[[nodiscard]] double together_in_rows(double messages, int partners);

}  // namespace chorus
