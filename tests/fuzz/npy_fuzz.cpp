// SPDX-License-Identifier: Apache-2.0
// A file of NumPy's. Whatever stands there, it is rejected, or as many elements are read as it has.
#include "fuzz.hpp"

#include <chorus/error.hpp>
#include <chorus/strategies/npy.hpp>

#include <sstream>
#include <string>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace chorus;
  std::istringstream stream(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const NpyHeader header = read_npy_header(stream, "input");
    const std::size_t elements = element_count(header.shape);
    fuzz::require(elements * size_of(header.type) <= size, "more elements than bytes");
    stream.clear();
    stream.seekg(0);
    const Tensor<float, 2> tensor = read_npy<float, 2>(stream, "input");
    fuzz::require(tensor.shape() == header.shape && tensor.size() == elements, "another shape");
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::invalid_argument, error.what());
  }
  return 0;
}
