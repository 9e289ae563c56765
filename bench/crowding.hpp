// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace chorus::bench {

/// Whether chorus has a thread that drives nonblocking calls.
enum class ProgressThread {
  off,
  on,
  impossible  ///< asked for, but MPI was not started for several threads
};

/// The node of the job that has the most ranks for each processor.
struct Company {
  int ranks = 1;
  int processors = 1;  ///< that the ranks there may run on
  ProgressThread progress_thread = ProgressThread::off;
};

/// Called by all ranks.
[[nodiscard]] Company company_of_the_ranks();

/// True where some node of the job has more ranks than processors that they may run on: times then depend on the
/// scheduler more than on the library. Called by all ranks.
[[nodiscard]] bool ranks_share_processors();

}  // namespace chorus::bench
