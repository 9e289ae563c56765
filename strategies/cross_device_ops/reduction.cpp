// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

#include <chorus/allreduce.hpp>
#include <chorus/barrier.hpp>
#include <chorus/bcast.hpp>
#include <chorus/detail/buffers.hpp>
#include <chorus/detail/operation.hpp>
#include <chorus/float16.hpp>
#include <chorus/reduce_local.hpp>
#include <chorus/strategies/axes.hpp>
#include <chorus/strategies/replica_group.hpp>

#include <climits>
#include <complex>
#include <concepts>
#include <span>

namespace chorus {
namespace {

constexpr const char* native = "native";  // MPI's own collective

/// The smaller or larger one; not a number where either is none.
template <bool smallest>
struct Extreme {
  template <class T>
  T operator()(const T& left, const T& right) const {
    static_assert(std::totally_ordered<T>);
    return detail::joined(smallest ? ReduceOp::min : ReduceOp::max, left, right);
  }
};

template <class T>
detail::Operation extreme(ReduceOp op) {
  static constexpr Commutative<Extreme<true>> smallest{};
  static constexpr Commutative<Extreme<false>> largest{};
  return op == ReduceOp::min ? detail::operation<T>(smallest) : detail::operation<T>(largest);
}

/// ReduceOp says nothing about what is not a number.
detail::Operation operation_of(ReduceOp op, DataType type) {
  if (op != ReduceOp::min && op != ReduceOp::max) return {.op = op, .owner = nullptr};
  switch (type) {
    case DataType::float16:
      return extreme<float16_t>(op);
    case DataType::bfloat16:
      return extreme<bfloat16_t>(op);
    case DataType::float32:
      return extreme<float>(op);
    case DataType::float64:
      return extreme<double>(op);
    case DataType::long_double:
      return extreme<long double>(op);
    default:
      return {.op = op, .owner = nullptr};
  }
}

detail::Buffers in_place(const TensorRef& tensor) {
  return {tensor.data, tensor.data, tensor.count(), tensor.count(), tensor.type, size_of(tensor.type)};
}

/// MPI has no 16-bit floats, Open MPI adds small integers wrongly, and no MPI says what the least of what is not a
/// number is.
bool mpi_reduces(const TensorRef& tensor, ReduceOp op) {
  const bool whole = tensor.type >= DataType::int8 && tensor.type <= DataType::uint64;
  const bool small = size_of(tensor.type) < 4;
  const bool adds = op == ReduceOp::sum || op == ReduceOp::average;
  return tensor.bytes() <= INT_MAX && (adds ? !small : whole);
}

CollectiveOptions worker_options(const CommunicationOptions& options, const TensorRef& tensor, ReduceOp op) {
  CollectiveOptions collective = collective_options(options);
  const bool mpi = options.implementation == CommunicationImplementation::mpi && !options.reproducible;
  if (mpi && mpi_reduces(tensor, op)) collective.algorithm = native;
  return collective;
}

template <class T>
void divide_elements(const TensorRef& tensor, int divisor) {
  using Divisor = std::conditional_t<sizeof(T) == 2, float, T>;  // 16 bits do not hold every number of replicas
  T* const elements = reinterpret_cast<T*>(tensor.data);
  const std::size_t count = tensor.count();
  for (std::size_t i = 0; i < count; ++i) elements[i] = static_cast<T>(elements[i] / static_cast<Divisor>(divisor));
}

}  // namespace

CollectiveOptions collective_options(const CommunicationOptions& options) noexcept {
  const bool ring = options.implementation == CommunicationImplementation::ring;
  return {.algorithm = ring ? "ring" : "", .timeout = options.timeout, .reproducible = options.reproducible};
}

CollectiveOptions without_algorithm(CollectiveOptions options) noexcept {
  options.algorithm = {};
  return options;
}

void all_reduce_tensor(const Communicator& comm, const TensorRef& tensor, ReduceOp op,
                       const CollectiveOptions& options) {
  detail::allreduce(comm, in_place(tensor), operation_of(op, tensor.type), options);
}

Request start_all_reduce_tensor(const Communicator& comm, const TensorRef& tensor, ReduceOp op,
                                const CollectiveOptions& options) {
  return detail::iallreduce(comm, in_place(tensor), operation_of(op, tensor.type), options);
}

void all_reduce_between_workers(const ReplicaGroup& group, const TensorRef& tensor, ReduceOp op,
                                const CommunicationOptions& options) {
  all_reduce_tensor(*group.workers(), tensor, op, worker_options(options, tensor, op));
}

Request start_all_reduce_between_workers(const ReplicaGroup& group, const TensorRef& tensor, ReduceOp op,
                                         const CommunicationOptions& options) {
  const CollectiveOptions collective = worker_options(options, tensor, op);
  if (collective.algorithm == native) group.find_native(options.timeout);
  return start_all_reduce_tensor(*group.workers(), tensor, op, collective);
}

void broadcast_tensor(const Communicator& comm, const TensorRef& tensor, const CollectiveOptions& options) {
  bcast(comm, std::span(tensor.data, tensor.bytes()), 0, without_algorithm(options));
}

void broadcast_of_first(const ReplicaGroup& group, const TensorRef& tensor, const CommunicationOptions& options) {
  const Communicator* const workers = group.workers();
  if (workers == nullptr) return;
  broadcast_tensor(*workers, tensor, {.timeout = options.timeout});
  wait_for_workers(group, options.timeout);  // the first one has waited for nobody
}

void wait_for_workers(const ReplicaGroup& group, std::chrono::nanoseconds timeout) {
  const Communicator* const workers = group.workers();
  if (workers != nullptr) barrier(*workers, {.timeout = timeout});
}

void reduce_tensor_into(const TensorRef& inout, const TensorRef& in, ReduceOp op) {
  detail::Buffers buffers = in_place(inout);
  buffers.in = in.data;
  detail::reduce_local(buffers, operation_of(op, inout.type));
}

void divide_tensor(const TensorRef& tensor, int divisor) {
  switch (tensor.type) {
    case DataType::float16:
      return divide_elements<float16_t>(tensor, divisor);
    case DataType::bfloat16:
      return divide_elements<bfloat16_t>(tensor, divisor);
    case DataType::float32:
      return divide_elements<float>(tensor, divisor);
    case DataType::float64:
      return divide_elements<double>(tensor, divisor);
    case DataType::long_double:
      return divide_elements<long double>(tensor, divisor);
    case DataType::complex64:
      return divide_elements<std::complex<float>>(tensor, divisor);
    case DataType::complex128:
      return divide_elements<std::complex<double>>(tensor, divisor);
    default:
      return;
  }
}

}  // namespace chorus
