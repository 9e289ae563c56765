// SPDX-License-Identifier: Apache-2.0
#include "call_shapes.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

namespace chorus::detail {
namespace {

constexpr std::size_t most_shapes = 4;  // in one message

struct Remembered {
  std::atomic<std::uint32_t> checksum{0};
  std::string text;
};

struct Memory {
  std::mutex mutex;  // for the texts
  std::array<Remembered, 256> all;

  [[nodiscard]] Remembered& at(std::uint32_t checksum) noexcept { return all[checksum % all.size()]; }
};

Memory& memory() {
  static Memory memory;
  return memory;
}

}  // namespace

std::uint32_t checksum_of_structure(std::uint64_t structure) noexcept {
  return static_cast<std::uint32_t>(structure * 0x9E3779B97F4A7C15U >> 49U);
}

void add_shape(std::uint64_t& number, const TensorRef& tensor) noexcept {
  // Whole numbers instead of bytes, as Fnv1a takes them: it is done for each tensor of each call.
  const auto add = [&number](std::uint64_t value) { number = (number ^ value) * 0x100000001b3U; };
  add(static_cast<std::uint64_t>(tensor.type) << 8U | tensor.shape.size());
  for (const std::size_t length : tensor.shape) add(length);
}

bool knows_shapes(std::uint32_t checksum) noexcept {
  return memory().at(checksum).checksum.load(std::memory_order_relaxed) == checksum;
}

void remember_shapes(std::uint32_t checksum, std::string text) {
  const std::scoped_lock lock(memory().mutex);
  Remembered& remembered = memory().at(checksum);
  remembered.text = std::move(text);
  remembered.checksum.store(checksum, std::memory_order_relaxed);
}

std::string tensors_of(std::uint32_t checksum) {
  const std::scoped_lock lock(memory().mutex);
  return knows_shapes(checksum)
             ? memory().at(checksum).text
             : fmt::format("tensors with the checksum {:04x} (see that worker's error for their shapes)", checksum);
}

void ShapesText::add(const TensorRef& tensor) {
  if (count_++ >= most_shapes) return;
  text_.append(fmt::format("{}{} {}", text_.empty() ? "" : ", ", name(tensor.type), to_string(tensor.shape)));
}

std::string ShapesText::text(std::uint64_t structure) const {
  std::string text = text_.empty() ? "no tensors" : text_;
  if (count_ > most_shapes) text.append(fmt::format(" and {} more", count_ - most_shapes));
  if (structure != 0) text.append(fmt::format(", structure {:04x}", checksum_of_structure(structure)));
  return text;
}

}  // namespace chorus::detail
