// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plan.hpp"

namespace chorus::info {

// What the text and the picture both say.

/// "16 MB", "1.5 GB": powers of 1024, as hwloc prints them.
[[nodiscard]] std::string readable_bytes(std::uint64_t bytes);

/// "1 core", "2 cores".
[[nodiscard]] std::string counted(std::size_t number, const char* noun);

/// The parts one after another with `separator` between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& parts, const char* separator);

/// The hosts that are this machine: "node01 node02", or the title of a described machine.
[[nodiscard]] std::string host_names(const Survey& survey, const Machine& machine);

/// "2 packages, 16 cores, 32 PUs, 62.5 GB; each core: L2 1 MB, L1 32 KB".
[[nodiscard]] std::string summary_of(const Spot& machine);

/// The place's name, and in brackets what there is to say: "Package 0 + L3 0 (32 MB; NUMA 0, 31 GB)", "Core 3 (PU 6
/// 7)".
[[nodiscard]] std::string label(const Spot& spot);

/// "GPU cuda0 cuda1, network eth0"; empty without devices.
[[nodiscard]] std::string devices(const Spot& spot);

/// How the ranks are divided: "divided by node into 2, by L3 into 8"; empty where they are not.
[[nodiscard]] std::string divisions(const Survey& survey);

/// "4 ranks, 1 host, 2 cores allowed; oversubscribed: 4 ranks on 2 cores". Empty for a described machine.
[[nodiscard]] std::string summary_of(const Survey& survey);

}  // namespace chorus::info
