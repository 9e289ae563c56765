// SPDX-License-Identifier: Apache-2.0
#include "carry_out.hpp"

#include "base/bytes.hpp"
#include "base/names.hpp"
#include "device/device_native.hpp"
#include "device/peer_windows.hpp"
#include "kernels/kernels.hpp"
#include "transport/mismatch_report.hpp"
#include "transport/native.hpp"
#include "transport/pace.hpp"
#include "transport/shared_group.hpp"
#include "wider_elements.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <algorithm>

namespace chorus {
namespace {

/// The ranks whose contributions this rank's result has; 0 where it gets none.
int combined_ranks(const Transport& transport, const Call& call) {
  if (call.collective == Collective::reduce) return call.root == transport.rank() ? transport.size() : 0;
  if (call.collective == Collective::scan) return transport.rank() + 1;
  if (call.collective == Collective::exscan) return transport.rank();
  return transport.size();
}

/// Of several ranks: one alone would measure how it copies for itself, and spread that.
bool renews_pace(const SharedGroup& memory) noexcept { return memory.size() > 1 && memory.is_pace_old(); }

}  // namespace

Task<> carry_out(const Algorithm& algorithm, Transport& transport, Arguments arguments, bool compare) {
  Call& call = arguments.call;
  if (call.algorithm == 0) call.algorithm = place_of(algorithm, call.collective);
  if (SharedGroup* memory = transport.node_memory()) {
    memory->begin(call);
    if (renews_pace(*memory)) co_await renew_pace(*memory);
    if (!algorithm.arrives) co_await memory->meet();
  }
  const bool one_node = transport.shared() != nullptr || transport.size() == 1;  // compared by its arrivals
  if (compare && !one_node) co_await compare_with_previous(transport, call, arguments.purpose);
  co_await carry_alone(algorithm, transport, arguments);
}

Task<> carry_alone(const Algorithm& algorithm, Transport& transport, Arguments arguments) {
  const Call& call = arguments.call;
  if (carries_wider(algorithm, {.call = call, .ranks = transport.size()})) {
    co_await run_with_wider_elements(algorithm, transport, arguments, combined_ranks(transport, call));
  } else {
    co_await algorithm.run(transport, arguments);
    finish(transport, arguments);
  }
}

Task<> compare_with_previous(Transport& transport, Call call, PurposeText purpose) {
  const int ranks = transport.size();
  const int previous = (transport.rank() + ranks - 1) % ranks;
  Call theirs;
  co_await transport.sendrecv(bytes_of(call), (transport.rank() + 1) % ranks, writable_bytes_of(theirs), previous);
  if (theirs == call) co_return;
  throw Error(ErrorCode::mismatch,
              fmt::format("the ranks disagree about this call; all must make the same call:{}\n ",
                          mismatch_report({{transport.rank(), call}, {previous, theirs}}, algorithm_name, purpose)));
}

void divide(const Transport& transport, const Arguments& arguments) {
  const Call& call = arguments.call;
  if (!has_op(call.collective) || call.memory == Memory::device) return;  // there who has the numbers divides them
  const int ranks = combined_ranks(transport, call);
  const bool lengths_differ = call.collective == Collective::reduce_scatter;
  const std::size_t count =
      lengths_differ ? arguments.in_sections[static_cast<std::size_t>(transport.rank())].bytes / call.element_bytes()
                     : call.count;
  if (ranks > 0) kernels::divide(arguments.out, count, call.type, ranks);
}

void renew_pace_now(SharedGroup& memory) {
  if (renews_pace(memory)) memory.drive(renew_pace(memory));
}

std::uint8_t place_of(const Algorithm& algorithm, Collective collective) noexcept {
  const std::span<const Algorithm* const> all = algorithms(collective);
  return static_cast<std::uint8_t>(std::ranges::find(all, &algorithm) - all.begin() + 1);
}

std::string_view algorithm_name(const Call& call) {
  const std::span<const Algorithm* const> all = algorithms(call.collective);
  return call.algorithm > 0 && call.algorithm <= all.size() ? all[call.algorithm - 1U]->name : "unknown";
}

Problem problem_of(const Call& call, const Transport& transport) {
  Problem problem{
      .call = call, .ranks = transport.size(), .largest_node = transport.size(), .smallest_node = transport.size()};
  if (const std::vector<int>& sizes = transport.node_sizes(); !sizes.empty()) {
    problem.nodes = static_cast<int>(sizes.size());
    problem.largest_node = std::ranges::max(sizes);
    problem.smallest_node = std::ranges::min(sizes);
    problem.in_order = std::ranges::is_sorted(transport.nodes());
  }
  problem.shared = transport.shared() != nullptr;
  if (problem.shared) problem.domains = transport.shared()->shape().radices();
  problem.single_copy = problem.shared && transport.shared()->reads();
  if (const SharedGroup* memory = transport.node_memory()) problem.slot_bytes = memory->slot_bytes();
  if (call.memory == Memory::device) {
    problem.native = transport.device_native() != nullptr && transport.device_native()->supports(call);
    problem.windows = transport.windows() != nullptr && transport.windows()->supports(call);
  } else {
    problem.native = call.repeatability == Repeatability::none && transport.native() != nullptr &&
                     transport.native()->supports(call);
  }
  return problem;
}

}  // namespace chorus
