// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/npy.hpp>

#include <string>
#include <string_view>

namespace chorus::detail {

/// What {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } says; `name` is for messages.
[[nodiscard]] NpyHeader parse_npy_dictionary(std::string_view text, const std::string& name);
/// The text that says so.
/// Throws   Error{invalid_argument} for opaque elements.
[[nodiscard]] std::string npy_dictionary(const NpyHeader& header);

}  // namespace chorus::detail
