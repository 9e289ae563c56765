// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"
#include "nccl_call.hpp"
#include "operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

// ncclAllReduce and the other operations: what a call checks.
namespace chorus::test::doubles {
namespace {

struct Type {
  const char* name;
  std::size_t bytes;
};
constexpr Type types[] = {{"int8", 1},    {"uint8", 1},    {"int32", 4},      {"uint32", 4},
                          {"int64", 8},   {"uint64", 8},   {"float16", 2},    {"float32", 4},
                          {"float64", 8}, {"bfloat16", 2}, {"float8e4m3", 1}, {"float8e5m2", 1}};
constexpr const char* ops[] = {"sum", "prod", "max", "min", "avg"};

/// What a call passes, before the communicator is known.
struct Arguments {
  OperationKind kind;
  const char* function;
  const void* from;
  void* to;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op = ncclSum;
  int peer = -1;
};

bool reduces(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::reduce || kind == OperationKind::reduce_scatter;
}

bool has_peer(OperationKind kind) {
  return kind == OperationKind::broadcast || kind == OperationKind::reduce || kind == OperationKind::send ||
         kind == OperationKind::recv;
}

ncclResult_t check_arguments(Operation& operation) {
  const Communicator& comm = *operation.comm;
  if (size_of(operation.type) == 0) return fail(ncclInvalidArgument, operation.function + ": invalid type");
  if (has_peer(operation.kind) && (operation.peer < 0 || operation.peer >= comm.clique->ranks)) {
    return fail(ncclInvalidArgument, fmt::format("{}: invalid root or peer {}", operation.function, operation.peer));
  }
  if (!reduces(operation.kind) || (operation.op >= 0 && operation.op < ncclNumOps)) return ncclSuccess;
  const auto made = comm.reduce_ops.find(operation.op);
  if (made == comm.reduce_ops.end()) {
    return fault(ncclInvalidArgument, operation.function, "the communicator has no such reduction operation");
  }
  if (made->second.type != operation.type) {
    return fault(ncclInvalidArgument, operation.function, "the reduction operation was made for another type");
  }
  operation.scale = made->second;
  operation.op = ncclSum;
  return ncclSuccess;
}

ncclResult_t check_stream(Operation& operation, cudaStream_t stream) {
  const auto& function = operation.function;
  const int device = operation.comm->device;
  if (find_stream(function, stream, StreamUse::work, operation.stream, device) != CUDA_SUCCESS) {
    return fail(ncclUnhandledCudaError, function + ": the stream cannot be used");
  }
  if (operation.stream->device == device) return ncclSuccess;
  return fault(ncclUnhandledCudaError, function,
               fmt::format("a stream of device {} for a communicator of device {}", operation.stream->device, device));
}

ncclResult_t check_buffer(const Operation& operation, std::uintptr_t address, std::size_t bytes) {
  if (bytes == 0) return ncclSuccess;
  Bytes found;
  if (!find_bytes(operation.function, address, bytes, Place::device, found)) {
    return fail(ncclInvalidArgument, operation.function + ": a buffer is no device memory");
  }
  const int device = operation.comm->device;
  if (found.allocation->device == device) return ncclSuccess;
  return fault(ncclInvalidArgument, operation.function,
               fmt::format("memory of device {} for a communicator of device {}", found.allocation->device, device));
}

/// Where the buffer that is written may lie within the one that is read, or the other way round.
std::ptrdiff_t in_place_offset(const Operation& operation) {
  const auto rank = static_cast<std::ptrdiff_t>(operation.comm->rank);
  if (operation.kind == OperationKind::all_gather) return -rank * static_cast<std::ptrdiff_t>(bytes_read(operation));
  if (operation.kind == OperationKind::reduce_scatter) {
    return rank * static_cast<std::ptrdiff_t>(bytes_written(operation));
  }
  return 0;
}

ncclResult_t check_overlap(const Operation& operation) {
  const std::size_t read = bytes_read(operation);
  const std::size_t written = bytes_written(operation);
  const bool apart =
      read == 0 || written == 0 || operation.from + read <= operation.to || operation.to + written <= operation.from;
  const auto distance = static_cast<std::ptrdiff_t>(operation.to - operation.from);
  if (apart || distance == in_place_offset(operation)) return ncclSuccess;
  return fault(ncclInvalidArgument, operation.function, "what is read and what is written overlap, and not in place");
}

ncclResult_t check(Operation& operation, cudaStream_t stream) {
  ncclResult_t result = check_arguments(operation);
  if (result == ncclSuccess) result = check_stream(operation, stream);
  if (result == ncclSuccess) result = check_buffer(operation, operation.from, bytes_read(operation));
  if (result == ncclSuccess) result = check_buffer(operation, operation.to, bytes_written(operation));
  return result == ncclSuccess ? check_overlap(operation) : result;
}

std::string recorded_op(const Arguments& arguments) { return reduces(arguments.kind) ? name_of(arguments.op) : ""; }

ncclResult_t call_operation(const Arguments& arguments, ncclComm_t comm, cudaStream_t stream) {
  const DeviceCall call{.function = arguments.function,
                        .stream = stream,
                        .count = arguments.count,
                        .bytes = arguments.count * size_of(arguments.type),
                        .type = name_of(arguments.type),
                        .op = recorded_op(arguments),
                        .peer = arguments.peer};
  return nccl_call(call, comm, [&](Lock& lock) {
    Operation operation{.kind = arguments.kind,
                        .function = arguments.function,
                        .from = reinterpret_cast<std::uintptr_t>(arguments.from),
                        .to = reinterpret_cast<std::uintptr_t>(arguments.to),
                        .count = arguments.count,
                        .type = arguments.type,
                        .op = arguments.op,
                        .peer = arguments.peer};
    ncclResult_t result = find_communicator(arguments.function, comm, operation.comm);
    if (result == ncclSuccess) result = check(operation, stream);
    if (result != ncclSuccess) return result;
    // As NCCL does: collectives of nothing are not launched.
    const bool nothing =
        operation.count == 0 && arguments.kind != OperationKind::send && arguments.kind != OperationKind::recv;
    return nothing ? ncclSuccess : issue(operation, lock);
  });
}

}  // namespace

std::size_t size_of(ncclDataType_t type) {
  return type >= 0 && type < ncclNumTypes ? types[static_cast<std::size_t>(type)].bytes : 0;
}

std::string name_of(ncclDataType_t type) {
  return type >= 0 && type < ncclNumTypes ? types[static_cast<std::size_t>(type)].name : "no type";
}

std::string name_of(ncclRedOp_t op) {
  return op >= 0 && op < ncclNumOps ? ops[static_cast<std::size_t>(op)] : "premulsum";
}

std::size_t bytes_read(const Operation& operation) {
  const std::size_t bytes = operation.count * size_of(operation.type);
  const bool only_root = operation.kind == OperationKind::broadcast;
  if (operation.kind == OperationKind::recv || (only_root && operation.peer != operation.comm->rank)) return 0;
  const bool all_blocks = operation.kind == OperationKind::reduce_scatter;
  return all_blocks ? bytes * static_cast<std::size_t>(operation.comm->clique->ranks) : bytes;
}

std::size_t bytes_written(const Operation& operation) {
  const std::size_t bytes = operation.count * size_of(operation.type);
  const bool only_root = operation.kind == OperationKind::reduce;
  if (operation.kind == OperationKind::send || (only_root && operation.peer != operation.comm->rank)) return 0;
  const bool all_blocks = operation.kind == OperationKind::all_gather;
  return all_blocks ? bytes * static_cast<std::size_t>(operation.comm->clique->ranks) : bytes;
}

}  // namespace chorus::test::doubles

using namespace chorus::test::doubles;
using Kind = OperationKind;

extern "C" {

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return call_operation({Kind::all_reduce, "ncclAllReduce", from, to, count, type, op}, comm, stream);
}

ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return call_operation({Kind::broadcast, "ncclBroadcast", from, to, count, type, ncclSum, root}, comm, stream);
}

ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream) {
  return call_operation({Kind::reduce, "ncclReduce", from, to, count, type, op, root}, comm, stream);
}

ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  return call_operation({Kind::all_gather, "ncclAllGather", from, to, count, type}, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  return call_operation({Kind::reduce_scatter, "ncclReduceScatter", from, to, count, type, op}, comm, stream);
}

ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call_operation({Kind::send, "ncclSend", from, nullptr, count, type, ncclSum, peer}, comm, stream);
}

ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return call_operation({Kind::recv, "ncclRecv", nullptr, to, count, type, ncclSum, peer}, comm, stream);
}

}  // extern "C"
