// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <exception>
#include <string>

namespace chorus::detail {

/// The text of an exception, to be told to others: never empty; that of none is.
[[nodiscard]] CHORUS_API std::string text_of(const std::exception_ptr& failure);

}  // namespace chorus::detail
