// SPDX-License-Identifier: Apache-2.0
#include "transport/mismatch_report.hpp"

#include "base/names.hpp"
#include "transport/deadlock_report.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <set>

namespace chorus {

std::string describe(const Call& call, PurposeText purpose) {
  if (call.purpose == 0) return describe(call);
  const std::string text = purpose != nullptr ? purpose(call.purpose) : fmt::format("purpose {}", call.purpose);
  return fmt::format("{}: {}", text, describe(call));
}

std::string mismatch_report(const std::map<int, std::optional<Call>>& calls, AlgorithmName algorithm_name,
                            PurposeText purpose) {
  std::map<std::string, std::set<std::uint32_t>> purposes;  // that have one description
  std::set<int> algorithms;
  std::set<int> checksums;  // of counts
  for (const auto& [rank, call] : calls) {
    if (!call) continue;
    purposes[describe(*call, purpose)].insert(call->purpose);
    algorithms.insert(call->algorithm);
    if (counts_are_known(call->collective)) checksums.insert(call->root);
  }
  std::map<int, std::string> texts;
  for (const auto& [rank, call] : calls) {
    std::string& text = texts[rank];
    text = call ? describe(*call, purpose) : "not arrived";
    if (!call) continue;
    const std::set<std::uint32_t>& alike = purposes.at(text);
    const bool differs_in_nothing_else = purposes.size() == 1 && alike.size() == 1;
    if (alike.size() > 1) text += *alike.begin() == call->purpose ? " (one of that name)" : " (another of that name)";
    if (differs_in_nothing_else && checksums.size() > 1) {
      text += fmt::format(" (its counts have the checksum {:08x})", static_cast<std::uint32_t>(call->root));
    }
    if (differs_in_nothing_else && algorithms.size() > 1) text += fmt::format(" (algorithm {})", algorithm_name(*call));
  }
  return group_by_text(texts);
}

}  // namespace chorus
