// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

#include <string_view>

namespace chorus {

// What the collectives with blocks of different lengths have in common: rank r has the section in_sections[s] of `in`
// for each rank s, and gets the section out_sections[s] of `out` from it. Sections nobody is to get are empty. In place
// the sections a rank gives are those it gets.

/// Through shared memory: every rank puts what it has for others into its line and its slot, or a cell where there
/// is a root, one section after another, behind a table that says where each lies; what all get is put there once.
/// Of what does not fit the table says where it lies in its giver's memory, and who gets it copies it from there,
/// as it does what is there sooner by one copy, and gives a receipt; where the system does not allow that, it goes
/// by message. Of what the root of a gatherv gets so its giver writes part at the same time, where ranks have cores
/// of their own. A rank waits for those only who give it something, or who have to copy it from there. What the
/// table says is compared with what is expected: throws Error{mismatch}.
Task<> pass_through_memory(Transport& transport, Arguments arguments);
/// The same, blocking and without a coroutine but for what goes by message.
void pass_through_memory_now(Transport& transport, const Arguments& arguments);
[[nodiscard]] bool fits_memory(const Problem& problem);

/// By messages between every two ranks; where the collective has a root, between it and the others only.
Task<> pass_by_messages(Transport& transport, Arguments arguments);
/// The same in rows that go on side by side: up to 8 of a rank's partners exchange with it at a time.
Task<> pass_in_rows(Transport& transport, Arguments arguments);

/// Of a collective in which each rank gives or gets `call.count` elements in all, its own among them: what they take.
[[nodiscard]] Traffic memory_traffic(const Problem& problem);
[[nodiscard]] Traffic message_traffic(const Problem& problem);
[[nodiscard]] Traffic row_traffic(const Problem& problem);

/// The row of an algorithm that passes sections through shared memory.
[[nodiscard]] constexpr Algorithm through_memory(std::string_view summary) {
  return {.name = "shared",
          .summary = summary,
          .source = "Flat shared-memory collectives: Graham and Shipman, EuroPVM/MPI 2008",
          .applies = fits_memory,
          .traffic = memory_traffic,
          .run = pass_through_memory,
          .now = pass_through_memory_now,
          .arrives = true};
}

/// The row of an algorithm that passes sections by messages, whatever the call.
[[nodiscard]] constexpr Algorithm by_messages(std::string_view name, std::string_view summary,
                                              std::string_view source) {
  return {.name = name,
          .summary = summary,
          .source = source,
          .applies = [](const Problem& /*problem*/) { return true; },
          .traffic = message_traffic,
          .run = pass_by_messages};
}

/// The row of an algorithm that passes them so, to and from several ranks at a time.
[[nodiscard]] constexpr Algorithm in_rows(std::string_view summary, std::string_view source) {
  return {.name = "scattered",
          .summary = summary,
          .source = source,
          .applies = [](const Problem& problem) { return problem.ranks > 2; },
          .traffic = row_traffic,
          .run = pass_in_rows};
}

}  // namespace chorus
