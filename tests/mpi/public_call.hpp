// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/prepared_call.hpp"

#include <chorus/communicator.hpp>
#include <chorus/options.hpp>
#include <chorus/request.hpp>

namespace chorus::test {

/// Makes the call through the public function of its collective.
void call(const Communicator& comm, const PreparedCall& prepared, const Arguments& arguments,
          const CollectiveOptions& options);
[[nodiscard]] Request start(const Communicator& comm, const PreparedCall& prepared, const Arguments& arguments,
                            const CollectiveOptions& options);

/// Checks the result; reports a wrong one as a failure of the test, the first one of each test.
void expect_result(const RankBuffers& buffers, const std::string& context);

}  // namespace chorus::test
