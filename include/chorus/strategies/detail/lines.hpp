// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/detail/stage.hpp>

#include <fstream>
#include <optional>
#include <string>

namespace chorus::detail {

/// The lines of a file.
class CHORUS_API Lines final : public Cursor<std::string> {
 public:
  /// For a dataset that `function` makes, which messages name.
  /// Throws   Error{invalid_argument} where `file` cannot be opened.
  Lines(const std::string& file, const char* function);
  /// Throws   Error{invalid_argument} where `file` cannot be read to its end.
  std::optional<std::string> next() override;

 private:
  std::string name_;
  const char* function_;
  std::ifstream file_;
};

}  // namespace chorus::detail
