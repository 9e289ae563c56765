// SPDX-License-Identifier: Apache-2.0
#include <chorus/reduce_local.hpp>

#include "base/lengths.hpp"
#include "base/names.hpp"
#include "kernels/kernels.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace chorus::detail {
namespace {

[[noreturn]] void reject(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, fmt::format("reduce_local: {}", what));
}

/// The buffers are equally long.
bool overlap_in_part(const Buffers& buffers) {
  const auto in = reinterpret_cast<std::uintptr_t>(buffers.in);
  const auto inout = reinterpret_cast<std::uintptr_t>(buffers.out);
  const std::size_t bytes = buffers.in_count * buffers.element_bytes;
  return in != inout && in < inout + bytes && inout < in + bytes;
}

void check(const Buffers& buffers) {
  if (buffers.in_count != buffers.out_count) {
    reject(fmt::format("in has {} elements and inout has {}: give as many", buffers.in_count, buffers.out_count));
  }
  if (is_too_long(buffers.in_count, buffers.element_bytes)) {
    reject(too_long("in", buffers.in_count, buffers.element_bytes));
  }
  if (buffers.in_count > 0 && (buffers.in == nullptr || buffers.out == nullptr)) {
    reject(fmt::format("argument {} is a null pointer with {} elements; pass the data, or an empty range",
                       buffers.in == nullptr ? "in" : "inout", buffers.in_count));
  }
  if (overlap_in_part(buffers)) reject("in and inout overlap in part: pass one buffer twice, or two apart");
}

}  // namespace

void reduce_local(const Buffers& buffers, const Operation& operation) {
  check(buffers);
  auto* const inout = static_cast<std::byte*>(buffers.out);
  const auto* const in = static_cast<const std::byte*>(buffers.in);
  if (operation.join != nullptr) return operation.join(operation.function, inout, in, inout, buffers.in_count);
  if (operation.op == ReduceOp::average || !kernels::supports(buffers.type, operation.op)) {
    reject(fmt::format("{} is not an operation on two {} elements{}", name(operation.op), name(buffers.type),
                       operation.op == ReduceOp::average ? ": sum, and divide at the end" : ""));
  }
  if (buffers.in_count == 0) return;
  const std::byte* const inputs[] = {in, inout};
  kernels::reduce(buffers.type, operation.op)(inout, std::span<const std::byte* const>(inputs), buffers.in_count,
                                              kernels::Store::cached);
}

}  // namespace chorus::detail
