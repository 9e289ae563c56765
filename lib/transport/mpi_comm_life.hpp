// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>

namespace chorus {

/// Knows whether the program has freed a communicator of MPI, by an attribute of it.
class MpiCommLife {
 public:
  explicit MpiCommLife(MPI_Comm comm);
  [[nodiscard]] bool over() const noexcept { return over_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<const std::atomic<bool>> over_;
};

}  // namespace chorus
