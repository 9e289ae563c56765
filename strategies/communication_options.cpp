// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/communication_options.hpp>

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace chorus {

CommunicationImplementation communication_implementation(std::string_view name) {
  std::string small(name);
  std::ranges::transform(small, small.begin(), [](unsigned char letter) { return std::tolower(letter); });
  if (small == "auto" || small == "automatic") return CommunicationImplementation::automatic;
  if (small == "ring") return CommunicationImplementation::ring;
  if (small == "nccl") return CommunicationImplementation::nccl;
  if (small == "mpi") return CommunicationImplementation::mpi;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("communication_implementation: \"{}\" is none: give auto, ring, nccl or mpi", name));
}

CommunicationOptions CommunicationOptions::merge(const CommunicationOptions& other) const noexcept {
  const CommunicationOptions defaults;
  CommunicationOptions merged = *this;
  if (other.bytes_per_pack != defaults.bytes_per_pack) merged.bytes_per_pack = other.bytes_per_pack;
  if (other.timeout != defaults.timeout) merged.timeout = other.timeout;
  if (other.implementation != defaults.implementation) merged.implementation = other.implementation;
  if (other.reproducible != defaults.reproducible) merged.reproducible = other.reproducible;
  if (other.compression != defaults.compression) merged.compression = other.compression;
  return merged;
}

}  // namespace chorus
