// SPDX-License-Identifier: Apache-2.0
#include "device/device_ranks.hpp"

#include <chorus/chorus.hpp>

#include <cstring>
#include <stdexcept>
#include <string>

namespace chorus::test {

DeviceBuffers::DeviceBuffers(const PreparedCall& prepared, int rank)
    : prepared_(prepared),
      rank_(rank),
      host_(prepared, rank),
      arguments_(host_.arguments()),
      in_(std::span(arguments_.in,
                    prepared.placement().in_place ? 0 : prepared.in_count(rank) * size_of(prepared.call().type))),
      out_(std::span<const std::byte>(arguments_.out, host_.out().size() * (arguments_.out != nullptr ? 1 : 0))) {}

detail::Buffers DeviceBuffers::of(const Stream& stream) const {
  const Call& call = prepared_.call();
  detail::Buffers buffers{.in = in_.data(),
                          .out = out_.data(),
                          .in_count = prepared_.in_count(rank_),
                          .out_count = prepared_.out_count(rank_),
                          .type = call.type,
                          .element_bytes = size_of(call.type),
                          .stream = &stream};
  if (!prepared_.placement().in_place) return buffers;
  buffers.in = buffers.out;
  buffers.in_count = buffers.out_count = out_.size() / size_of(call.type);
  return buffers;
}

void DeviceBuffers::check() {
  const std::vector<std::byte> result = out_.content();
  if (!result.empty()) std::memcpy(arguments_.out, result.data(), result.size());
  const std::vector<std::byte> input = in_.content();
  if (!input.empty() && std::memcmp(arguments_.in, input.data(), input.size()) != 0) {
    throw std::runtime_error("the input has changed on rank " + std::to_string(rank_) + " of " + prepared_.describe());
  }
  host_.check();
}

void call_door(const Communicator& comm, const Call& call, const detail::Buffers& buffers,
               const CollectiveOptions& options) {
  const detail::Operation operation{.op = call.op, .owner = nullptr};
  switch (call.collective) {
    case Collective::bcast:
      return detail::bcast(comm, buffers, call.root, options);
    case Collective::reduce:
      return detail::reduce(comm, buffers, operation, call.root, options);
    case Collective::allreduce:
      return detail::allreduce(comm, buffers, operation, options);
    case Collective::allgather:
      return detail::allgather(comm, buffers, options);
    case Collective::reduce_scatter_block:
      return detail::reduce_scatter_block(comm, buffers, operation, options);
    case Collective::alltoall:
      return detail::alltoall(comm, buffers, options);
    case Collective::gather:
      return detail::gather(comm, buffers, call.root, options);
    case Collective::scatter:
      return detail::scatter(comm, buffers, call.root, options);
    default:
      throw std::logic_error("no collective of blocks of equal length");
  }
}

}  // namespace chorus::test
