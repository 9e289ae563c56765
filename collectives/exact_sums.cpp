// SPDX-License-Identifier: Apache-2.0
#include "exact_sums.hpp"

#include "kernels/kernels.hpp"

#include <chorus/exact_sum.hpp>

#include <algorithm>
#include <complex>
#include <cstring>
#include <span>

namespace chorus {
namespace {

constexpr std::size_t most_bytes = std::size_t{8} << 20U;  // of ExactSums at a time

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
void round(std::byte* numbers, const std::byte* sums, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    ExactSum<T> sum;
    std::memcpy(&sum, sums + i * sizeof sum, sizeof sum);
    const T number = sum.value();
    std::memcpy(numbers + i * sizeof number, &number, sizeof number);
  }
}

/// How the elements of a type become ExactSums and back.
struct Conversion {
  std::size_t parts = 1;  ///< numbers in an element: 2 where it is complex
  std::size_t number_bytes = 0;
  std::size_t sum_bytes = 0;
  void (*spread)(std::byte* sums, const std::byte* numbers, std::size_t count) = nullptr;
  void (*round)(std::byte* numbers, const std::byte* sums, std::size_t count) = nullptr;
  detail::Operation::Join join = nullptr;
};

template <class T>
Conversion conversion(std::size_t parts) noexcept {
  return {parts,     sizeof(T), sizeof(ExactSum<T>),
          spread<T>, round<T>,  detail::join<Commutative<detail::AddExactly>, ExactSum<T>>};
}

Conversion conversion_of(DataType type) noexcept {
  const std::size_t parts = type == DataType::complex64 || type == DataType::complex128 ? 2 : 1;
  const bool single = type == DataType::float32 || type == DataType::complex64;
  return single ? conversion<float>(parts) : conversion<double>(parts);
}

/// The call for `count` ExactSums a block.
Call with_exact_sums(Call call, const Conversion& conversion, std::size_t count) noexcept {
  call.type = DataType::opaque;
  call.opaque_bytes = static_cast<std::uint32_t>(conversion.sum_bytes);
  call.op = commutative_function;
  call.count = count;
  call.repeatability = Repeatability::none;
  return call;
}

/// The sum over a single rank, which makes what is no number the same as other sums do.
void sum_of_one(const Arguments& arguments) {
  const std::span<const std::byte* const> inputs(&arguments.in, 1);
  kernels::exact_sum(arguments.call.type)(arguments.out, inputs, arguments.call.count, kernels::Store::cached);
}

}  // namespace

Problem with_exact_sums(Problem problem) noexcept {
  const Conversion conversion = conversion_of(problem.call.type);
  problem.call = with_exact_sums(problem.call, conversion, problem.call.count * conversion.parts);
  return problem;
}

Task<> run_with_exact_sums(const Algorithm& algorithm, Transport& transport, Arguments arguments, bool gets_result) {
  const Conversion conversion = conversion_of(arguments.call.type);
  const std::size_t numbers = arguments.call.count * conversion.parts;  // of a block
  if (transport.size() == 1) {
    if (gets_result) sum_of_one(arguments);
    co_return;
  }
  const std::size_t blocks =
      arguments.call.collective == Collective::reduce_scatter_block ? static_cast<std::size_t>(transport.size()) : 1;
  const std::size_t most = std::max<std::size_t>(1, most_bytes / (blocks * conversion.sum_bytes));
  std::size_t done = 0;
  do {
    const std::size_t count = std::min(most, numbers - done);
    const Scratch sums = transport.scratch(blocks * count * conversion.sum_bytes);
    for (std::size_t block = 0; block < blocks; ++block) {
      conversion.spread(sums.data() + block * count * conversion.sum_bytes,
                        arguments.in + (block * numbers + done) * conversion.number_bytes, count);
    }
    const Arguments of_sums{.call = with_exact_sums(arguments.call, conversion, count),
                            .in = sums.data(),
                            .out = arguments.out == nullptr ? nullptr : sums.data(),
                            .join = conversion.join,
                            .function = &exact_sum};
    co_await algorithm.run(transport, of_sums);
    if (gets_result) conversion.round(arguments.out + done * conversion.number_bytes, sums.data(), count);
    done += count;
  } while (done < numbers);
}

}  // namespace chorus
