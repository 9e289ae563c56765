// SPDX-License-Identifier: Apache-2.0
#include "checkpoint/reader.hpp"

#include "crc32.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/checkpoint_index.hpp>
#include <chorus/strategies/npy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace chorus {
namespace {

using detail::CheckpointItem;
using detail::CheckpointItemFacts;

/// Everything that is wrong with a checkpoint, to be said at once.
class Objections {
 public:
  explicit Objections(std::string folder) : folder_(std::move(folder)) {}

  /// The checkpoint has other things than the program.
  void differs(std::string why) { add(std::move(why), differs_); }
  void is_of_no_use(std::string why) { add(std::move(why), of_no_use_); }
  /// Throws where there is any.
  void raise() const {
    if (count_ == 0) return;
    std::string text = fmt::format("{}: {}", folder_, text_);
    if (count_ > most_) text.append(fmt::format("; and {} more", count_ - most_));
    if (differs_) {
      text.append(": give the variables that were saved, or RestoreOptions::partial for those that both have");
    }
    if (of_no_use_) text.append(": restore another checkpoint");
    throw Error(ErrorCode::invalid_argument, text);
  }

 private:
  void add(std::string why, bool& kind) {
    kind = true;
    if (++count_ > most_) return;
    if (count_ > 1) text_.append("; ");
    text_.append(why);
  }

  static constexpr std::size_t most_ = 20;
  std::string folder_;
  std::string text_;
  std::size_t count_ = 0;
  bool differs_ = false;
  bool of_no_use_ = false;
};

bool shape_fits(const CheckpointItem& item, const Shape& saved) {
  const Shape mine = item.shape();
  return item.facts().any_shape ? mine.size() == saved.size() : mine == saved;
}

/// Compares what the program and the checkpoint have, by name; gives the tensor of each item.
std::vector<const CheckpointTensor*> matched(const CheckpointIndex& index, const detail::CheckpointItems& items,
                                             const RestoreOptions& options, Objections& objections) {
  std::map<std::string_view, const CheckpointTensor*> left;
  for (const CheckpointTensor& tensor : index.tensors) left.emplace(tensor.name, &tensor);
  std::vector<const CheckpointTensor*> tensors;
  for (const auto& item : items) {
    const CheckpointItemFacts& facts = item->facts();
    const auto found = left.find(facts.name);
    tensors.push_back(found == left.end() ? nullptr : found->second);
    if (found == left.end()) {
      if (!options.partial) objections.differs(fmt::format("\"{}\" of the program is not there", facts.name));
      continue;
    }
    const CheckpointTensor& tensor = *found->second;
    if (tensor.type != facts.type || !shape_fits(*item, tensor.shape)) {
      objections.differs(fmt::format("\"{}\" is {} {} there and {} {} in the program", tensor.name, name(tensor.type),
                                     to_string(tensor.shape), name(facts.type), to_string(item->shape())));
    }
    left.erase(found);
  }
  for (const auto& [name, tensor] : left) {
    if (!options.partial) objections.differs(fmt::format("\"{}\" is there and not in the program", name));
  }
  return tensors;
}

/// Objects unless `file` is the one that was written for `tensor`.
void check_file(const std::string& file, const CheckpointTensor& tensor, Objections& objections) {
  constexpr std::size_t piece = std::size_t{1} << 20U;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return objections.is_of_no_use(fmt::format("{} cannot be opened: {}", tensor.file, std::strerror(errno)));
  }
  std::vector<char> buffer(piece);
  Crc32 checksum;
  std::uint64_t bytes = 0;
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(piece));
    const auto read = static_cast<std::size_t>(stream.gcount());
    checksum.add(std::as_bytes(std::span(buffer.data(), read)));
    bytes += read;
  }
  if (bytes != tensor.bytes) {
    objections.is_of_no_use(
        fmt::format("{} is damaged: it has {} bytes instead of {}", tensor.file, bytes, tensor.bytes));
  } else if (checksum.value() != tensor.crc32) {
    objections.is_of_no_use(fmt::format("{} is damaged: its checksum is {:08x} instead of {:08x}", tensor.file,
                                        checksum.value(), tensor.crc32));
  }
}

/// `read(file)`; objects where that throws.
template <class Read>
void attempt(const CheckpointTensor& tensor, Objections& objections, const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    objections.is_of_no_use(fmt::format("{} is damaged: {}", tensor.file, error.message()));
  }
}

TensorRef staged(const std::string& file, const CheckpointTensor& tensor, CheckpointItem& item,
                 Objections& objections) {
  const std::unique_ptr<std::istream> stream = detail::open_binary(file);
  const NpyHeader header = read_npy_header(*stream, file);
  if (header.type != tensor.type || header.shape != tensor.shape) {
    objections.is_of_no_use(fmt::format("{} is damaged: it is {} {}, and {} {} by the index", tensor.file,
                                        name(header.type), to_string(header.shape), name(tensor.type),
                                        to_string(tensor.shape)));
    return {};
  }
  const TensorRef value = item.stage(tensor.shape);
  detail::read_npy_elements(*stream, header, value, file);
  if (value.type == DataType::boolean) {  // whatever the file holds, C++ has two of them
    for (std::byte& each : std::span(value.data, value.bytes())) each = std::byte{each != std::byte{0}};
  }
  return value;
}

}  // namespace

StagedCheckpoint stage_checkpoint(const std::string& folder, const detail::CheckpointItems& items,
                                  const RestoreOptions& options) {
  const CheckpointIndex index = read_checkpoint_index(folder);
  Objections objections(folder);
  const std::vector<const CheckpointTensor*> tensors = matched(index, items, options, objections);
  const auto path_of = [&](const CheckpointTensor& tensor) {
    return (std::filesystem::path(folder) / tensor.file).string();
  };
  for (const CheckpointTensor* const tensor : tensors) {
    if (tensor == nullptr) continue;
    check_file(path_of(*tensor), *tensor, objections);
  }
  objections.raise();
  StagedCheckpoint checkpoint{index.step, std::vector<std::optional<TensorRef>>(items.size())};
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (tensors[i] == nullptr) continue;
    attempt(*tensors[i], objections,
            [&] { checkpoint.values[i] = staged(path_of(*tensors[i]), *tensors[i], *items[i], objections); });
  }
  objections.raise();
  return checkpoint;
}

}  // namespace chorus
