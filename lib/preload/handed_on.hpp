// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/attachment.hpp"
#include "preload/paths.hpp"
#include "preload/take_over.hpp"

namespace chorus::preload {

/// PMPI_X of a collective that MPI carries out always, by reason of `path`: it is counted.
///
/// Such are the nonblocking and the persistent ones: they must make progress in every function of MPI, as a rank may
/// wait in MPI_Recv for another that waits for the collective, and MPI can drive only its own.
template <Collective collective, Path path, Name name, class... Arguments>
int hand_on(Arguments... arguments) {
  static const auto mpi = reinterpret_cast<Function<Arguments...>>(next_definition(name.text));
  if (Inside::here() || !takes_part()) return mpi(arguments...);
  static constexpr Offer offer{.path = path, .call = {.collective = collective}};
  const Reported reported(offer);
  return mpi(arguments...);
}

}  // namespace chorus::preload
