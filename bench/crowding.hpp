// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace chorus::bench {

/// True where some node of the job has more ranks than processors that they may run on: times then depend on the
/// scheduler more than on the library. Called by all ranks.
[[nodiscard]] bool ranks_share_processors();

}  // namespace chorus::bench
