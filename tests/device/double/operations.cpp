// SPDX-License-Identifier: Apache-2.0
#include "operations.hpp"

#include "nccl_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace chorus::test::doubles {
namespace {

/// The operations that a thread launches together on a stream for one rank: they progress side by side.
using Bundle = std::vector<Operation>;

bool is_pair(const Operation& operation) {
  return operation.kind == OperationKind::send || operation.kind == OperationKind::recv;
}

/// The place of the next operation of a rank among those of its communicator, by which the ranks' parts are matched.
std::weak_ptr<Exchange>& next_place(const Operation& operation) {
  Communicator& comm = *operation.comm;
  std::erase_if(comm.clique->collectives, [](const auto& entry) { return entry.second.expired(); });
  std::erase_if(comm.clique->pairs, [](const auto& entry) { return entry.second.expired(); });
  if (!is_pair(operation)) return comm.clique->collectives[comm.next_collective++];
  const bool sends = operation.kind == OperationKind::send;
  const std::uint64_t turn = sends ? comm.next_send[operation.peer]++ : comm.next_recv[operation.peer]++;
  const auto self = static_cast<std::uint64_t>(comm.rank);
  const auto peer = static_cast<std::uint64_t>(operation.peer);
  return comm.clique->pairs[{sends ? self : peer, sends ? peer : self, turn}];
}

std::string describe(const Operation& operation) {
  const bool reduces = operation.kind == OperationKind::all_reduce || operation.kind == OperationKind::reduce ||
                       operation.kind == OperationKind::reduce_scatter;
  const std::string op = reduces ? fmt::format(" {}", name_of(operation.op)) : "";
  const std::string peer =
      operation.peer < 0 ? "" : fmt::format("{} {}", is_pair(operation) ? " with" : " root", operation.peer);
  return fmt::format("rank {} calls {} of {} {}{}{}", operation.comm->rank, operation.function, operation.count,
                     name_of(operation.type), op, peer);
}

/// Whether two parts of one exchange say the same, of what must be the same.
bool agree(const Operation& one, const Operation& other) {
  if (one.count != other.count || one.type != other.type) return false;
  if (is_pair(one)) return one.kind != other.kind;
  // Scaled sums have a number of their own on each rank.
  const bool same_op = one.op == other.op || (one.scale.has_value() && other.scale.has_value());
  return one.kind == other.kind && same_op && one.peer == other.peer;
}

/// Puts a part to those of the other ranks.
void post(Part& part) {
  auto& place = next_place(part.operation);
  part.exchange = place.lock();
  if (part.exchange == nullptr) {
    place = part.exchange = std::make_shared<Exchange>();
    part.exchange->expected =
        is_pair(part.operation) ? 2 : static_cast<std::size_t>(part.operation.comm->clique->ranks);
  }
  Exchange& exchange = *part.exchange;
  if (!exchange.parts.empty() && !agree(exchange.parts.front()->operation, part.operation)) {
    exchange.differs = true;
    record_fault(fmt::format("the ranks of communicator {} differ: {}, {}", part.operation.comm->clique->number,
                             describe(exchange.parts.front()->operation), describe(part.operation)));
  }
  exchange.parts.push_back(&part);
}

void find_memory(Part& part) {
  const Operation& operation = part.operation;
  const auto find = [&](std::uintptr_t address, std::size_t bytes, Bytes& found) {
    if (bytes > 0 && !find_bytes(operation.function, address, bytes, Place::device, found))
      part.exchange->differs = true;
  };
  find(operation.from, bytes_read(operation), part.from);
  find(operation.to, bytes_written(operation), part.to);
  if (operation.scale.has_value() && operation.scale->device_address != 0) {
    find(operation.scale->device_address, size_of(operation.type), part.scale);
  }
}

bool may_move(const Exchange& exchange) {
  return exchange.parts.size() == exchange.expected && !exchange.moving && !exchange.done &&
         std::ranges::all_of(exchange.parts, [](const Part* part) {
           const Communicator& comm = *part->operation.comm;
           return part->arrived && !comm.aborted && comm.error == ncclSuccess;
         });
}

void move(Exchange& exchange, Lock& lock) {
  exchange.moving = true;
  for (Part* const part : exchange.parts) ++part->operation.comm->moving;
  if (!exchange.differs) {
    lock.unlock();
    transfer(exchange);
    lock.lock();
  }
  for (Part* const part : exchange.parts) --part->operation.comm->moving;
  exchange.moving = false;
  exchange.done = true;
  changed().notify_all();
}

/// What the stream does with a bundle: it arrives with all parts, and stays until they are done.
void serve(std::vector<std::unique_ptr<Part>>& parts, Communicator& comm, Lock& lock) {
  for (const auto& part : parts) part->arrived = true;
  for (const auto& part : parts) {
    if (may_move(*part->exchange)) move(*part->exchange, lock);
  }
  changed().wait(lock, [&] {
    return std::ranges::all_of(
        parts, [&](const auto& part) { return part->exchange->done || (comm.aborted && !part->exchange->moving); });
  });
  for (const auto& part : parts) std::erase(part->exchange->parts, part.get());
  parts.clear();
  --comm.launches_under_way;
  changed().notify_all();
}

Work work_of(const Bundle& bundle) {
  const auto comm = bundle.front().comm;
  if (comm->destroyed || comm->aborted) {
    record_fault(bundle.front().function +
                 " is launched or replayed after its communicator has been destroyed or aborted");
    return [](Lock&) {};
  }
  const auto parts = std::make_shared<std::vector<std::unique_ptr<Part>>>();
  for (const Operation& operation : bundle) {
    parts->push_back(std::make_unique<Part>(Part{.operation = operation}));
    post(*parts->back());
    find_memory(*parts->back());
  }
  ++comm->launches_under_way;
  return [parts, comm](Lock& lock) { serve(*parts, *comm, lock); };
}

/// Enqueues a bundle now, or when ncclCommGetAsyncError is asked later.
ncclResult_t launch_bundle(const Bundle& bundle) {
  const auto stream = bundle.front().stream;
  Communicator& comm = *bundle.front().comm;
  const auto enqueue_it = [stream, bundle] { enqueue(stream, [bundle] { return work_of(bundle); }); };
  if (comm.blocking || !nccl_settings().slow_launch) {
    enqueue_it();
    return ncclSuccess;
  }
  comm.slow_until = std::chrono::steady_clock::now() + 4 * settings().delay;
  comm.slow_launches.emplace_back(enqueue_it);
  return ncclInProgress;
}

}  // namespace

ncclResult_t launch(const std::vector<Operation>& operations, Lock& lock) {
  const Communicator& first = *operations.front().comm;
  if (first.blocking && nccl_settings().stalls) {
    changed().wait(lock, [&] { return first.aborted; });
    return ncclSuccess;  // what is aborted need not be told
  }
  std::vector<Bundle> bundles;
  for (const Operation& operation : operations) {
    const auto fits = [&](const Bundle& bundle) {
      return bundle.front().comm == operation.comm && bundle.front().stream == operation.stream;
    };
    const auto found = std::ranges::find_if(bundles, fits);
    (found == bundles.end() ? bundles.emplace_back() : *found).push_back(operation);
  }
  ncclResult_t result = ncclSuccess;
  for (const Bundle& bundle : bundles) {
    if (launch_bundle(bundle) == ncclInProgress) result = ncclInProgress;
  }
  return result;
}

}  // namespace chorus::test::doubles
