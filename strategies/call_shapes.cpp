// SPDX-License-Identifier: Apache-2.0
#include "call_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace chorus::detail {
namespace {

constexpr std::size_t most_shapes = 4;  // in one message

/// The texts of the last numbers.
class Memory {
 public:
  [[nodiscard]] bool knows(std::uint64_t number) noexcept {
    return at(number).number.load(std::memory_order_relaxed) == number;
  }
  void remember(std::uint64_t number, std::string text) {
    const std::scoped_lock lock(mutex_);
    Remembered& remembered = at(number);
    remembered.text = std::move(text);
    remembered.number.store(number, std::memory_order_relaxed);
  }
  [[nodiscard]] std::optional<std::string> text_of(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    return knows(number) ? std::optional(at(number).text) : std::nullopt;
  }

 private:
  struct Remembered {
    std::atomic<std::uint64_t> number{0};
    std::string text;
  };
  [[nodiscard]] Remembered& at(std::uint64_t number) noexcept { return all_[number % all_.size()]; }

  std::mutex mutex_;  // for the texts
  std::array<Remembered, 256> all_;
};

Memory& tensors() {
  static Memory memory;
  return memory;
}
Memory& parts() {
  static Memory memory;
  return memory;
}

std::string more(std::size_t count) {
  return count > most_shapes ? fmt::format(" and {} more", count - most_shapes) : std::string();
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

bool knows_shapes(std::uint32_t checksum) noexcept { return tensors().knows(checksum); }

void remember_shapes(std::uint32_t checksum, std::string text) { tensors().remember(checksum, std::move(text)); }

std::string tensors_of(std::uint32_t checksum) {
  const std::optional<std::string> text = tensors().text_of(checksum);
  if (text) return *text;
  return fmt::format("tensors with the checksum {:04x} (see that worker's error for their shapes)", checksum);
}

bool knows_parts(std::uint64_t structure) noexcept { return parts().knows(structure); }

void remember_parts(std::uint64_t structure, const std::vector<std::string>& paths) {
  std::string text = paths.empty() || paths.front().empty() ? "nothing" : paths.front();
  for (std::size_t i = 1; i < std::min(paths.size(), most_shapes); ++i) text.append(", " + paths[i]);
  parts().remember(structure, text + more(paths.size()));
}

void ShapesText::add(const TensorRef& tensor) {
  if (count_++ >= most_shapes) return;
  text_.append(fmt::format("{}{} {}", text_.empty() ? "" : ", ", name(tensor.type), to_string(tensor.shape)));
}

std::string ShapesText::text(std::uint64_t structure) const {
  std::string text = text_.empty() ? "no tensors" : text_;
  text.append(more(count_));
  if (structure == 0) return text;
  if (const std::optional<std::string> of = parts().text_of(structure)) return text + " in " + *of;
  return text + fmt::format(", structure {:04x}", checksum_of_structure(structure));
}

}  // namespace chorus::detail
