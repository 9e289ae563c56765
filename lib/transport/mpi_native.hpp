// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/mpi_caller.hpp"
#include "transport/mpi_comm_life.hpp"
#include "transport/native.hpp"

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace chorus {

/// MPI's own collectives on the user's communicator, in the order of the calls.
class MpiNative final : public Native {
 public:
  explicit MpiNative(MPI_Comm comm) : comm_(comm), life_(comm) {}
  ~MpiNative() override;

  /// Whether some hosts have more ranks than others; to be said before the first call.
  void know_hosts(bool uneven) noexcept { uneven_hosts_ = uneven; }

  [[nodiscard]] bool supports(const Call& call) const noexcept override;
  void run(const Call& call, const Buffers& buffers) override;
  [[nodiscard]] std::uint64_t start(const Call& call, const Buffers& buffers) override;
  [[nodiscard]] bool test(std::uint64_t& ticket) override;
  /// The process ends where MPI does not come back from starting or testing a call for much longer than `limit`.
  void watch(std::chrono::nanoseconds limit) { caller_.watch(limit); }
  /// False where a call that was started is not complete, maybe for ever.
  [[nodiscard]] bool idle() const noexcept { return under_way_ == 0; }

 private:
  /// Blocks of different lengths as MPI takes them.
  struct BlockLists {
    BlockLists() = default;
    BlockLists(BlockLists&&) = default;
    BlockLists& operator=(BlockLists&&) = default;
    ~BlockLists();
    void add(int count, int offset, MPI_Datatype type);

    std::vector<int> counts;          ///< in bytes, or for reductions in elements; of alltoallw 1, or 0 for none
    std::vector<int> offsets;         ///< the same
    std::vector<MPI_Datatype> types;  ///< of alltoallw, whose blocks lie anywhere: each says where its block lies
  };
  struct Lengths {
    BlockLists in, out;
    std::vector<std::byte> copy;  ///< of the input, where the call must not be in place
  };
  /// Empty where blocks do not differ in length.
  [[nodiscard]] static Lengths lengths_of(const Call& call, const Buffers& buffers);
  /// Those of blocks of different lengths; `in` may be MPI_IN_PLACE.
  void run_sections(const Call& call, const Buffers& buffers, const void* in);
  [[nodiscard]] int start_sections(const Call& call, const Buffers& buffers, const void* in, const Lengths& lengths,
                                   MPI_Request& request) const;

  /// Whether such a call in place gets a copy of its input.
  [[nodiscard]] static bool wants_copy_in_place(const Call& call, bool blocking) noexcept;
  [[nodiscard]] std::vector<std::byte> copy_of_input(const Call& call, const Buffers& buffers) const;
  static void copy_input_of_alltoallw(const Buffers& buffers, Lengths& lengths);

  /// Throws Error{invalid_argument} where the program has freed the communicator.
  void check_life() const;

  MPI_Comm comm_;
  MpiCommLife life_;
  MpiCaller caller_;
  int under_way_ = 0;
  bool uneven_hosts_ = false;
  using Started = std::map<std::uint64_t, Lengths>;
  Started started_;  // MPI reads them until the call is complete
};

}  // namespace chorus
