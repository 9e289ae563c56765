// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "transport/native.hpp"

#include <bit>
#include <initializer_list>
#include <string_view>

namespace chorus::vendor {

inline constexpr const char* native_name = "native";

/// What the vendor is given.
[[nodiscard]] Native::Buffers buffers_of(const Arguments& arguments) noexcept;

[[nodiscard]] bool applies(const Problem& problem);
Task<> run(Transport& transport, Arguments arguments);
void now(Transport& transport, const Arguments& arguments);

/// Rounds of the textbook's algorithms, in which every rank reaches twice as many as in the one before.
[[nodiscard]] constexpr double rounds(const Problem& problem) {
  return std::bit_width(static_cast<unsigned>(problem.ranks - 1));
}

/// The traffic of the fastest of these algorithms of the same collective, which are the textbook's.
[[nodiscard]] Traffic traffic_of_fastest(const Problem& problem, std::initializer_list<std::string_view> names);

/// The `native` algorithm of a collective: the MPI library's own. Its `traffic` is that of the textbook's algorithm,
/// which is all that is known of it from outside: the best of several in their rounds and of others in their bytes it
/// is not.
[[nodiscard]] constexpr Algorithm native(Traffic (*traffic)(const Problem&)) {
  return {.name = native_name,
          .summary = "the MPI library's own collective",
          .source = "the MPI library",
          .applies = applies,
          .traffic = traffic,
          .run = run,
          .now = now};
}

/// The same of a collective of which no rank knows all lengths: MPI's counts and displacements are of int, and whether
/// they are enough is known on some ranks only.
[[nodiscard]] constexpr Algorithm native_of_unknown_lengths(Traffic (*traffic)(const Problem&)) {
  Algorithm algorithm = native(traffic);
  algorithm.only_named = true;
  return algorithm;
}

}  // namespace chorus::vendor
