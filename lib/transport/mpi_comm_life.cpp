// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_comm_life.hpp"

#include "transport/mpi_error.hpp"

#include <mutex>

namespace chorus {
namespace {

using Flag = std::shared_ptr<std::atomic<bool>>;

int end(MPI_Comm /*comm*/, int /*key*/, void* flag, void* /*extra*/) {
  const std::unique_ptr<const Flag> owned(static_cast<const Flag*>(flag));
  (*owned)->store(true, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

int key_of_flags() {
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr), "MPI_Comm_create_keyval");
  return key;
}

/// The one that all who use `comm` share.
Flag flag_of(MPI_Comm comm) {
  static const int key = key_of_flags();
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  void* found = nullptr;
  int there = 0;
  check_mpi(MPI_Comm_get_attr(comm, key, static_cast<void*>(&found), &there), "MPI_Comm_get_attr");
  if (there != 0) return *static_cast<const Flag*>(found);
  auto made = std::make_unique<Flag>(std::make_shared<std::atomic<bool>>(false));
  check_mpi(MPI_Comm_set_attr(comm, key, made.get()), "MPI_Comm_set_attr");
  return *made.release();
}

}  // namespace

MpiCommLife::MpiCommLife(MPI_Comm comm) : over_(flag_of(comm)) {}

}  // namespace chorus
