// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/cluster_resolver.hpp>

#include <string>
#include <string_view>

namespace chorus {

/// The start-up line of a program whose cluster fits together.
[[nodiscard]] std::string startup_text(std::string_view strategy, const ClusterResolver& resolver, int local_replicas);

/// What of an address names the host: "node1" of "node1:2222", "[::1]" of "[::1]:2222", "node1" of "node1".
[[nodiscard]] std::string_view host_of(std::string_view address) noexcept;

}  // namespace chorus
