// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device_memory.hpp"
#include "preload/attachment.hpp"
#include "preload/next.hpp"
#include "preload/paths.hpp"
#include "preload/raise.hpp"
#include "preload/report.hpp"

#include <chorus/error.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>

// How a collective of MPI is taken over: its file has a struct, from which functions.py makes the functions of MPI.
//
//   struct Allreduce {
//     static Offer offer(Attachment&, arguments of MPI_Allreduce);             // whether chorus can, and its call
//     static void run(const Attachment&, const Call&, arguments of MPI_Allreduce);
//   };
//
// Both serve the form with large counts too: a count is an MPI_Count, and the type of arrays of them is a parameter.
namespace chorus::preload {

template <class... Arguments>
using Function = int (*)(Arguments...);

/// The name of a function, as a template's argument.
template <std::size_t length>
struct Name {
  consteval Name(const char (&letters)[length]) { std::copy_n(letters, length, text); }  // NOLINT(*explicit*)
  char text[length]{};
};

/// The communicator is the last argument of every blocking collective.
template <class... Arguments>
[[nodiscard]] MPI_Comm communicator_of(const Arguments&... arguments) noexcept {
  return std::get<sizeof...(arguments) - 1>(std::tie(arguments...));
}

/// Looks whether the program has begun to use CUDA, where `argument` is a buffer that is not known to be the host's.
template <class Argument>
void look_for_cuda_at(Argument argument) noexcept {
  if constexpr (std::is_same_v<Argument, const void*> || std::is_same_v<Argument, void*>)
    static_cast<void>(may_be_on_device(argument));
}

/// The offer of `attachment` is made anew, and remembered for these arguments of `function` where it is lasting.
template <Collective collective, class Row, class... Arguments>
void decide(Attachment& attachment, const void* function, Arguments... arguments) {
  attachment.last_arguments.forget();
  Offer& offer = attachment.offer;
  if (attachment.path() == Path::intercommunicator) {  // whose arrays are as long as the other group
    offer = {.path = Path::intercommunicator, .call = {.collective = collective}};
    return;
  }
  offer = Row::offer(attachment, arguments...);
  if (attachment.path() != Path::chorus) {
    offer.path = attachment.path();
  } else if (offer.path != Path::chorus) {
    return;
  } else if (!attachment.set_up(communicator_of(arguments...))) {
    offer.path = Path::few_calls;
  } else {
    if (attachment.left_to_vendor(offer.call)) offer.path = Path::faster;
    if (offer.lasting && attachment.decided()) attachment.last_arguments.set(function, arguments...);
  }
}

/// PMPI_X: chorus, or MPI.
template <Collective collective, class Row, Name name, class... Arguments>
int take_over(Arguments... arguments) {
  static const auto mpi = reinterpret_cast<Function<Arguments...>>(next_definition(name.text));
  if (Inside::here()) return mpi(arguments...);
  const MPI_Comm comm = communicator_of(arguments...);
  Attachment* attachment = nullptr;
  try {
    attachment = Attachment::of(comm);
    if (attachment == nullptr) return mpi(arguments...);
    if (attachment->path() != Path::chorus && !Report::wanted()) return mpi(arguments...);
    const void* const function = name.text;
    if (!attachment->last_arguments.are(function, arguments...))
      decide<collective, Row>(*attachment, function, arguments...);
    const Offer& offer = attachment->offer;
    const Reported reported(offer);
    if (offer.path != Path::chorus) return mpi(arguments...);
    (look_for_cuda_at(arguments), ...);
    const Inside inside;
    Row::run(*attachment, offer.call, arguments...);
    return MPI_SUCCESS;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_environment) return raise(comm, std::current_exception());
    attachment->give_up(error);
  } catch (...) {
    return raise(comm, std::current_exception());
  }
  return take_over<collective, Row, name>(arguments...);
}

/// MPI_X: a tool's, or `own`, which is PMPI_X.
template <auto own, Name name, class... Arguments>
int pass_tools(Arguments... arguments) {
  static const auto tool = reinterpret_cast<Function<Arguments...>>(next_tool(name.text));
  return tool != nullptr ? tool(arguments...) : own(arguments...);
}

}  // namespace chorus::preload
