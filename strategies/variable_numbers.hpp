// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// The numbers of variables: the same on all workers, so that they can tell whether they write the same one. All but the
// numbers that they have agreed on are the process's own.
namespace chorus::detail {

/// A number, from 1, that this process has given to no variable.
[[nodiscard]] std::uint32_t unused_variable_number();
/// Notes that the variable, or optimizer, `number` is called `text` in messages; no later one gets its number here.
void name_variable(std::uint32_t number, std::string text);

/// 15 bits that stand for the variable in the number of a call's purpose; 0 for none. Those of two variables are the
/// same where their numbers are 32767, or a multiple of it, apart.
[[nodiscard]] constexpr std::uint32_t checksum_of_variable(std::uint32_t number) noexcept {
  return number == 0 ? 0 : (number - 1) % 32767 + 1;
}
/// What the last one of this process is called that has the checksum.
[[nodiscard]] std::string name_of_variable(std::uint32_t checksum);

}  // namespace chorus::detail
