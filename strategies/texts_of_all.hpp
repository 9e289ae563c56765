// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/options.hpp>

#include <string>
#include <vector>

namespace chorus {

class Communicator;

namespace detail {

/// `own` of every rank, in their order. Collective, and returns when all have come.
[[nodiscard]] std::vector<std::string> texts_of_all(const Communicator& comm, const std::string& own,
                                                    const CollectiveOptions& options = {});

}  // namespace detail
}  // namespace chorus
