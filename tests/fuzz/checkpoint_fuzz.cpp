// SPDX-License-Identifier: Apache-2.0
// The index of a checkpoint. Whatever stands there, it is rejected, or means what its own text says again; and it never
// names a file that is not in the folder.
#include "fuzz.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/checkpoint_index.hpp>

#include <string>
#include <string_view>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chorus;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    std::uint32_t says = 0;
    const CheckpointIndex index = detail::parse_checkpoint_index(text, "input", &says);
    for (const CheckpointTensor& tensor : index.tensors) {
      fuzz::require(tensor.file.find('/') == std::string::npos && tensor.file.front() != '.', "another folder's file");
      fuzz::require(!tensor.name.empty() && tensor.type != DataType::opaque, "no tensor");
      fuzz::require(element_count(tensor.shape) < std::size_t{1} << 50U, "more elements than there can be");
    }
    const std::string again = detail::checkpoint_index_text(index);
    fuzz::require(detail::parse_checkpoint_index(again, "its text", &says) == index, "another index");
    fuzz::require(says == detail::checkpoint_index_checksum(index), "another checksum");
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::invalid_argument, error.what());
  }
  return 0;
}
