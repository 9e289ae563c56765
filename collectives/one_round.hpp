// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "kernels/kernels.hpp"
#include "transport/shared_group.hpp"

namespace chorus {

/// Whose arrival a rank waits for.
enum class Awaited { everybody, root, nobody };

/// A collective of one round in shared memory, as a coroutine and without one. `Steps` has
///   slots                     how many lines or data slots there are for its rounds: line_slots or data_slots
///   post(memory, round, a)    writes this rank's payload or slot
///   awaited(memory, a)        whose arrival this rank needs
///   finish(memory, round, a)  reads what has arrived
template <class Steps>
struct OneRound {
  static Task<> run(Transport& transport, Arguments arguments) {
    SharedGroup& memory = *transport.shared();
    const Round round = co_await memory.open(Steps::slots);
    Steps::post(memory, round, arguments);
    memory.arrive(round);
    const Awaited awaited = Steps::awaited(memory, arguments);
    if (awaited == Awaited::everybody) co_await memory.arrivals(round);
    if (awaited == Awaited::root) co_await memory.arrival(round, arguments.call.root);
    Steps::finish(memory, round, arguments);
  }

  static void now(Transport& transport, const Arguments& arguments) {
    SharedGroup& memory = *transport.shared();
    const Round round = memory.open_now(Steps::slots);
    Steps::post(memory, round, arguments);
    memory.arrive(round);
    const Awaited awaited = Steps::awaited(memory, arguments);
    if (awaited == Awaited::everybody) memory.wait_for_all(round);
    if (awaited == Awaited::root) memory.wait_for(round, arguments.call.root);
    Steps::finish(memory, round, arguments);
  }
};

/// Below this many bytes plain stores into shared memory are faster than streamed ones.
inline constexpr std::size_t streaming_from = 1024;

inline kernels::Store store_for(std::size_t bytes) noexcept {
  return bytes < streaming_from ? kernels::Store::cached : kernels::Store::streamed;
}

}  // namespace chorus
