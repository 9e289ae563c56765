// SPDX-License-Identifier: Apache-2.0
#include "wider_elements.hpp"

#include "base/machine.hpp"
#include "base/names.hpp"
#include "blocks.hpp"
#include "kernels/kernels.hpp"
#include "section_list.hpp"
#include "section_messages.hpp"

#include <chorus/exact_sum.hpp>

#include <algorithm>
#include <complex>
#include <cstring>
#include <optional>
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

/// The input of a call, a part at a time: of each block the same share, which becomes wider elements.
class Numbers {
 public:
  Numbers(Transport& transport, const Arguments& arguments, const Conversion& conversion)
      : arguments_(arguments), conversion_(conversion) {
    const Collective collective = arguments.call.collective;
    const bool one_each = collective == Collective::reduce_scatter_block || lengths_differ();
    blocks_ = one_each ? static_cast<std::size_t>(transport.size()) : 1;
    own_ = one_each ? static_cast<std::size_t>(transport.rank()) : 0;
    const std::size_t all = arguments.call.count * conversion.parts * (lengths_differ() ? 1 : blocks_);
    const std::size_t most = machine::wider_at_once / conversion.wide_bytes;
    parts_ = static_cast<int>(std::max<std::size_t>(1, (all + most - 1) / most));
  }
  [[nodiscard]] bool lengths_differ() const { return arguments_.call.collective == Collective::reduce_scatter; }
  [[nodiscard]] std::size_t blocks() const { return blocks_; }
  /// The block whose result this rank gets.
  [[nodiscard]] std::size_t own() const { return own_; }
  [[nodiscard]] int parts() const { return parts_; }
  /// How many numbers a part has at most.
  [[nodiscard]] std::size_t longest_part() const {
    std::size_t numbers = 0;
    for (std::size_t block = 0; block < blocks_; ++block) numbers += count(block, 0);
    return numbers;
  }
  /// A part of a block, in bytes.
  [[nodiscard]] std::size_t begin(std::size_t block, int part) const {
    return input_block(arguments_, block).offset + parts_of(block).offset(part);
  }
  [[nodiscard]] std::size_t count(std::size_t block, int part) const {
    return parts_of(block).bytes(part) / conversion_.number_bytes;
  }

 private:
  [[nodiscard]] Blocks parts_of(std::size_t block) const {
    return {input_block(arguments_, block).bytes / conversion_.number_bytes, conversion_.number_bytes, parts_};
  }

  const Arguments& arguments_;
  const Conversion& conversion_;
  std::size_t blocks_ = 1;
  std::size_t own_ = 0;
  int parts_ = 1;
};

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
  if (!has_op(call.collective) || algorithm.at_once || algorithm.memory == Memory::device) return false;
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
  const Conversion conversion = conversion_of(arguments.call.type);
  if (transport.size() == 1) {
    if (combined_ranks > 0) sum_of_one(arguments);
    co_return;
  }
  const Numbers numbers(transport, arguments, conversion);
  const bool lengths_differ = numbers.lengths_differ();
  std::optional<InputCopy> copy;  // in place a long result would overwrite what is still to come
  if (lengths_differ && arguments.in == arguments.out) copy.emplace(transport, arguments);
  const std::byte* const in = copy ? copy->input().bytes : arguments.in;
  SectionList blocks(transport, lengths_differ ? numbers.blocks() : 0);
  const Scratch wide = transport.scratch(numbers.longest_part() * conversion.wide_bytes);
  std::byte* out = arguments.out;
  for (int part = 0; part < numbers.parts(); ++part) {
    std::size_t end = 0;
    for (std::size_t block = 0; block < numbers.blocks(); ++block) {
      const std::size_t count = numbers.count(block, part);
      conversion.widen(wide.data() + end * conversion.wide_bytes, in + numbers.begin(block, part), count);
      if (lengths_differ) blocks[block] = {end * conversion.wide_bytes, count * conversion.wide_bytes};
      end += count;
    }
    const Arguments of_wide{.call = widened(arguments.call, conversion, lengths_differ ? end : end / numbers.blocks()),
                            .in = wide.data(),
                            .out = arguments.out == nullptr ? nullptr : wide.data(),
                            .join = conversion.join,
                            .function = &exact_sum,
                            .in_sections = blocks,
                            .purpose = arguments.purpose,
                            .links = arguments.links};
    co_await algorithm.run(transport, of_wide);
    if (combined_ranks == 0) continue;
    const std::size_t count = numbers.count(numbers.own(), part);
    conversion.narrow(out, wide.data(), count, arguments.call.op == ReduceOp::average ? combined_ranks : 1);
    out += count * conversion.number_bytes;
  }
}

}  // namespace chorus
