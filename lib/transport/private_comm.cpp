// SPDX-License-Identifier: Apache-2.0
#include "transport/private_comm.hpp"

#include "transport/mpi_error.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace chorus {
namespace {

/// Those that have ended since the last one was made.
class Ended {
 public:
  static Ended& of_this_process() {
    static auto* const ended = new Ended;  // never destroyed: communicators may outlive main
    return *ended;
  }
  void add(MPI_Comm comm) {
    const std::scoped_lock lock(mutex_);
    comms_.push_back(comm);
  }
  /// Not collective in Open MPI nor MPICH, though the standard lets it be.
  void free() {
    std::vector<MPI_Comm> comms;
    {
      const std::scoped_lock lock(mutex_);
      comms = std::exchange(comms_, {});
    }
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  }

 private:
  std::mutex mutex_;
  std::vector<MPI_Comm> comms_;
};

}  // namespace

PrivateComm::PrivateComm(MPI_Comm parent, std::span<const int> ranks, int tag) {
  Ended::of_this_process().free();
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(parent, &all), "MPI_Comm_group");
  int code = MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  if (code == MPI_SUCCESS) code = MPI_Comm_create_group(parent, some, tag, &comm_);
  if (some != MPI_GROUP_NULL) MPI_Group_free(&some);
  MPI_Group_free(&all);
  check_mpi(code, "MPI_Comm_create_group");
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

PrivateComm::~PrivateComm() {
  if (comm_ != MPI_COMM_NULL) Ended::of_this_process().add(comm_);
}

}  // namespace chorus
