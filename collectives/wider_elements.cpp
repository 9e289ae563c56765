// SPDX-License-Identifier: Apache-2.0
#include "wider_elements.hpp"

#include "base/machine.hpp"
#include "base/names.hpp"
#include "kernels/kernels.hpp"

#include <chorus/exact_sum.hpp>

#include <algorithm>
#include <complex>
#include <cstring>
#include <span>

namespace chorus {
namespace {

template <class T>
void spread(std::byte* sums, const std::byte* numbers, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T number;
    std::memcpy(&number, numbers + i * sizeof number, sizeof number);
    const ExactSum<T> sum(number);
    std::memcpy(sums + i * sizeof sum, &sum, sizeof sum);
  }
}

template <class T>
void round(std::byte* numbers, const std::byte* sums, std::size_t count, int divisor) {
  for (std::size_t i = 0; i < count; ++i) {
    ExactSum<T> sum;
    std::memcpy(&sum, sums + i * sizeof sum, sizeof sum);
    const T number = sum.value() / static_cast<T>(divisor);
    std::memcpy(numbers + i * sizeof number, &number, sizeof number);
  }
}

/// How the elements of a type become wider ones and back.
struct Conversion {
  std::size_t parts = 1;  ///< numbers in an element: 2 where it is complex
  std::size_t number_bytes = 0;
  DataType wide_type = DataType::opaque;
  std::size_t wide_bytes = 0;
  void (*widen)(std::byte* wide, const std::byte* numbers, std::size_t count) = nullptr;
  void (*narrow)(std::byte* numbers, const std::byte* wide, std::size_t count, int divisor) = nullptr;
  detail::Operation::Join join = nullptr;  ///< where they are ExactSums
};

template <class T>
Conversion to_exact_sums(std::size_t parts) noexcept {
  return {.parts = parts,
          .number_bytes = sizeof(T),
          .wide_bytes = sizeof(ExactSum<T>),
          .widen = spread<T>,
          .narrow = round<T>,
          .join = detail::join<Commutative<detail::AddExactly>, ExactSum<T>>};
}

Conversion conversion_of(DataType type) noexcept {
  switch (type) {
    case DataType::float16:
    case DataType::bfloat16:
      return {.number_bytes = size_of(type),
              .wide_type = DataType::float32,
              .wide_bytes = sizeof(float),
              .widen = kernels::widen(type),
              .narrow = kernels::narrow(type)};
    case DataType::float32:
      return to_exact_sums<float>(1);
    case DataType::complex64:
      return to_exact_sums<float>(2);
    case DataType::complex128:
      return to_exact_sums<double>(2);
    default:
      return to_exact_sums<double>(1);
  }
}

/// The call for `count` wider elements a block.
Call widened(Call call, const Conversion& conversion, std::size_t count) noexcept {
  call.type = conversion.wide_type;
  call.count = count;
  if (conversion.join != nullptr) {
    call.opaque_bytes = static_cast<std::uint32_t>(conversion.wide_bytes);
    call.op = commutative_function;
    call.repeatability = Repeatability::none;
  }
  return call;
}

/// The sum over a single rank, which makes what is no number the same as other sums do.
void sum_of_one(const Arguments& arguments) {
  const std::span<const std::byte* const> inputs(&arguments.in, 1);
  kernels::exact_sum(arguments.call.type)(arguments.out, inputs, arguments.call.count, kernels::Store::cached);
}

/// True where joining two 16-bit floats rounds.
bool rounds(ReduceOp op) noexcept { return op == ReduceOp::sum || op == ReduceOp::product || op == ReduceOp::average; }

}  // namespace

bool carries_wider(const Algorithm& algorithm, const Problem& problem) noexcept {
  const Call& call = problem.call;
  if (!has_op(call.collective) || algorithm.at_once) return false;
  if (call.repeatability == Repeatability::reproducible) return true;
  const int joined_exactly_once = call.op == ReduceOp::average ? 1 : 2;  // an average is divided before it is rounded
  return is_half(call.type) && rounds(call.op) && problem.ranks > joined_exactly_once;
}

Problem with_wider_elements(Problem problem) noexcept {
  const Conversion conversion = conversion_of(problem.call.type);
  problem.call = widened(problem.call, conversion, problem.call.count * conversion.parts);
  return problem;
}

Task<> run_with_wider_elements(const Algorithm& algorithm, Transport& transport, Arguments arguments,
                               int combined_ranks) {
  const Call& call = arguments.call;
  const Conversion conversion = conversion_of(call.type);
  const std::size_t numbers = call.count * conversion.parts;  // of a block
  if (transport.size() == 1) {
    if (combined_ranks > 0) sum_of_one(arguments);
    co_return;
  }
  const int divisor = call.op == ReduceOp::average ? combined_ranks : 1;
  const std::size_t blocks =
      call.collective == Collective::reduce_scatter_block ? static_cast<std::size_t>(transport.size()) : 1;
  const std::size_t most = std::max<std::size_t>(1, machine::wider_at_once / (blocks * conversion.wide_bytes));
  std::size_t done = 0;
  do {
    const std::size_t count = std::min(most, numbers - done);
    const Scratch wide = transport.scratch(blocks * count * conversion.wide_bytes);
    for (std::size_t block = 0; block < blocks; ++block) {
      conversion.widen(wide.data() + block * count * conversion.wide_bytes,
                       arguments.in + (block * numbers + done) * conversion.number_bytes, count);
    }
    const Arguments of_wide{.call = widened(call, conversion, count),
                            .in = wide.data(),
                            .out = arguments.out == nullptr ? nullptr : wide.data(),
                            .join = conversion.join,
                            .function = &exact_sum};
    co_await algorithm.run(transport, of_wide);
    if (combined_ranks > 0) {
      conversion.narrow(arguments.out + done * conversion.number_bytes, wide.data(), count, divisor);
    }
    done += count;
  } while (done < numbers);
}

}  // namespace chorus
