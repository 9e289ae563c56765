// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/native.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace chorus {

/// MPI's own collectives on the user's communicator, in the order of the calls.
class MpiNative final : public Native {
 public:
  explicit MpiNative(MPI_Comm comm) noexcept : comm_(comm) {}

  [[nodiscard]] bool supports(const Call& call) const noexcept override;
  void run(const Call& call, const Buffers& buffers) override;
  [[nodiscard]] std::uint64_t start(const Call& call, const Buffers& buffers) override;
  [[nodiscard]] bool test(std::uint64_t& ticket) override;

 private:
  [[nodiscard]] const void* input_of_reduce(const Call& call, const Buffers& buffers, const void* in);

  MPI_Comm comm_;
  std::vector<std::byte> copy_;
};

}  // namespace chorus
