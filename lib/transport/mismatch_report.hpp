// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"

#include <chorus/call_purpose.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace chorus {

/// The name of the algorithm that `Call::algorithm` stands for.
using AlgorithmName = std::string_view (*)(const Call&);

/// CallPurpose::text; may be null.
using PurposeText = decltype(CallPurpose::text);

/// describe(call), after what it is for where that was said: "training: allreduce of 4 float32 by sum", or "purpose 3:
/// ..." on a rank that has no texts.
[[nodiscard]] std::string describe(const Call& call, PurposeText purpose);

/// What each rank has called, equal ranks on one line: "ranks 0, 2: allreduce of 4 float32 by sum"; a rank without a
/// call has not arrived. Purposes of one text, as of two variables of one name, are told apart; checksums of
/// counts and the algorithms are named where the calls differ in nothing else.
[[nodiscard]] std::string mismatch_report(const std::map<int, std::optional<Call>>& calls, AlgorithmName algorithm_name,
                                          PurposeText purpose = nullptr);

}  // namespace chorus
