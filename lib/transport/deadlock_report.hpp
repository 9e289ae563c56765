// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace chorus {

/// What each rank does, in words, in the order of the ranks, equal ones on one line: "ranks 3-7, 9: receiving 8 bytes
/// from rank 2 at ...". Where only the ranks named within differ, "rank ..." stands for them.
[[nodiscard]] std::string group_by_place(const std::map<int, std::string>& places);

/// The same of texts in which every number counts.
[[nodiscard]] std::string group_by_text(const std::map<int, std::string>& texts);

}  // namespace chorus
