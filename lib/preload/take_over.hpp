// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/attachment.hpp"
#include "preload/next.hpp"
#include "preload/paths.hpp"
#include "preload/raise.hpp"
#include "preload/report.hpp"

#include <mpi.h>

#include <exception>
#include <tuple>

// How a collective of MPI is taken over: its file has a struct and the two functions of MPI, one line each.
//
//   struct Allreduce {
//     static constexpr const char* name = "PMPI_Allreduce";
//     static Offer offer(const Attachment&, arguments of MPI_Allreduce);       // whether chorus can, and its call
//     static void run(const Attachment&, const Call&, arguments of MPI_Allreduce);
//   };
//   int PMPI_Allreduce(...) { return take_over<Allreduce>(...); }
//   int MPI_Allreduce(...) { return pass_tools<Allreduce>(...); }
namespace chorus::preload {

template <class... Arguments>
using Function = int (*)(Arguments...);

/// The communicator is the last argument of every blocking collective.
template <class... Arguments>
[[nodiscard]] MPI_Comm communicator_of(const Arguments&... arguments) noexcept {
  return std::get<sizeof...(arguments) - 1>(std::tie(arguments...));
}

template <class Row, class... Arguments>
[[nodiscard]] Offer decide(Attachment& attachment, Arguments... arguments) {
  Offer offer = Row::offer(attachment, arguments...);
  if (attachment.path() != Path::chorus) {
    offer.path = attachment.path();
  } else if (offer.path != Path::chorus) {
    return offer;
  } else if (!attachment.set_up(communicator_of(arguments...))) {
    offer.path = Path::few_calls;
  } else if (attachment.left_to_vendor(offer.call)) {
    offer.path = Path::faster;
  }
  return offer;
}

/// PMPI_X: chorus, or MPI.
template <class Row, class... Arguments>
int take_over(Arguments... arguments) {
  static const auto mpi = reinterpret_cast<Function<Arguments...>>(next_definition(Row::name));
  if (Inside::here()) return mpi(arguments...);
  const MPI_Comm comm = communicator_of(arguments...);
  try {
    Attachment* const attachment = Attachment::of(comm);
    if (attachment == nullptr) return mpi(arguments...);
    const Offer offer = decide<Row>(*attachment, arguments...);
    const Reported reported(offer);
    if (offer.path != Path::chorus) return mpi(arguments...);
    const Inside inside;
    Row::run(*attachment, offer.call, arguments...);
    return MPI_SUCCESS;
  } catch (...) {
    return raise(comm, std::current_exception());
  }
}

/// MPI_X: a tool's, or the above.
template <class Row, class... Arguments>
int pass_tools(Arguments... arguments) {
  static const auto tool = reinterpret_cast<Function<Arguments...>>(next_tool(Row::name + 1));
  return tool != nullptr ? tool(arguments...) : take_over<Row>(arguments...);
}

}  // namespace chorus::preload
