// SPDX-License-Identifier: Apache-2.0
#include "transport/mismatch_report.hpp"

#include "base/names.hpp"
#include "transport/deadlock_report.hpp"

#include <fmt/format.h>

#include <set>

namespace chorus {

std::string describe(const Call& call, PurposeText purpose) {
  if (call.purpose == 0) return describe(call);
  const std::string text = purpose != nullptr ? purpose(call.purpose) : fmt::format("purpose {}", call.purpose);
  return fmt::format("{}: {}", text, describe(call));
}

std::string mismatch_report(const std::map<int, std::optional<Call>>& calls, AlgorithmName algorithm_name,
                            PurposeText purpose) {
  std::set<std::string> descriptions;
  std::set<int> algorithms;
  for (const auto& [rank, call] : calls) {
    if (!call) continue;
    descriptions.insert(describe(*call, purpose));
    algorithms.insert(call->algorithm);
  }
  const bool only_algorithms_differ = descriptions.size() == 1 && algorithms.size() > 1;
  std::map<int, std::string> texts;
  for (const auto& [rank, call] : calls) {
    std::string& text = texts[rank];
    text = call ? describe(*call, purpose) : "not arrived";
    if (call && only_algorithms_differ) text += fmt::format(" (algorithm {})", algorithm_name(*call));
  }
  return group_by_place(texts);
}

}  // namespace chorus
