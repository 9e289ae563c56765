// SPDX-License-Identifier: Apache-2.0
//
// Staged: through pinned memory of the host and the host's own algorithms.
//
// The blocks are cut into segments. While the ranks carry out the collective for one segment, the next one is copied
// from the device and the one before to it. With two halves of pinned memory for what goes in and two for what comes
// out:
//
//     from the device   segment 0   segment 1   segment 2
//     on the hosts                  segment 0   segment 1   segment 2
//     to the device                             segment 0   segment 1   segment 2
//
// A segment has the same part of each block. Where blocks differ in length and no rank knows all of them, the ranks
// agree on the longest before.

#include "base/call.hpp"
#include "base/machine.hpp"
#include "carry_out.hpp"
#include "choose.hpp"
#include "device/accelerator.hpp"
#include "link_model.hpp"
#include "staging.hpp"

#include <algorithm>
#include <cstdint>

namespace chorus::on_device_staged {
namespace {

Traffic traffic(const Problem& problem) {
  Problem on_hosts = problem;
  on_hosts.call.memory = Memory::host;
  on_hosts.native = false;
  Traffic traffic = fastest(on_hosts, links_of(problem)).traffic(on_hosts);
  const auto bytes = static_cast<double>(problem.call.bytes());
  const auto blocks = static_cast<double>(most_blocks(problem.call.collective, problem.ranks));
  traffic.device = {.messages = 1, .bytes = (blocks + 1) * bytes};  // of all segments but one both ways are hidden
  return traffic;
}

/// The algorithm for what goes on between the hosts.
const Algorithm& between_hosts(const Transport& transport, const Arguments& on_host) {
  Problem problem = problem_of(on_host.call, transport);
  problem.links = on_host.links;
  return *choose(problem, {}, {.links = links_of(problem), .measured = {}, .machine = {}}).algorithm;
}

/// The longest block of any rank.
Task<std::size_t> agree_on_longest(Transport& transport, const Arguments& arguments) {
  std::uint64_t longest = longest_block(arguments);
  if (!counts_differ(arguments.call.collective)) co_return longest;  // which every rank knows
  Arguments agree{
      .call = {.collective = Collective::allreduce, .type = DataType::uint64, .op = ReduceOp::max, .count = 1},
      .in = reinterpret_cast<const std::byte*>(&longest),
      .out = reinterpret_cast<std::byte*>(&longest),
      .links = arguments.links};
  co_await carry_alone(between_hosts(transport, agree), transport, agree);
  co_return longest;
}

Task<> run(Transport& transport, Arguments arguments) {
  Accelerator& device = *transport.accelerator();
  Staging staging(device, transport, arguments);
  device.come_after(arguments.stream);
  staging.fetch(0);
  const int steps = staging.steps(co_await agree_on_longest(transport, arguments));
  for (int step = 0; step < steps; ++step) {
    const int half = step % Accelerator::halves;
    co_await Accelerator::Copied(device, Accelerator::Way::to_host, half);
    if (step + 1 < steps) staging.fetch(step + 1);
    co_await Accelerator::Copied(device, Accelerator::Way::to_device, half);
    const Arguments on_host = staging.on_host(step);
    co_await carry_alone(between_hosts(transport, on_host), transport, on_host);
    staging.store(step);
  }
  for (int half = 0; half < Accelerator::halves; ++half) {
    co_await Accelerator::Copied(device, Accelerator::Way::to_device, half);
  }
  staging.end();
}

bool applies(const Problem& problem) { return problem.call.memory == Memory::device; }

}  // namespace

extern const Algorithm algorithm;
constexpr Algorithm algorithm{.name = "staged",
                              .summary = "through pinned memory of the hosts, a segment on its way each way meanwhile",
                              .source = "pipelined host staging: Wang et al., Computer Science - R&D 26, 2011",
                              .applies = applies,
                              .traffic = traffic,
                              .run = run,
                              .memory = Memory::device};

}  // namespace chorus::on_device_staged
