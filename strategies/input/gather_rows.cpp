// SPDX-License-Identifier: Apache-2.0
#include <chorus/strategies/batch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace chorus::detail {
namespace {

/// The number of elements of one row.
std::size_t row_length(const Shape& shape) {
  std::size_t count = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) count *= shape[i];
  return count;
}

/// How many elements lie between neighbours in each dimension.
std::vector<std::size_t> strides_of(const TensorRef& tensor) {
  std::vector<std::size_t> strides(tensor.shape.size());
  std::size_t stride = 1;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t at = tensor.order == StorageOrder::column_major ? i : strides.size() - 1 - i;
    strides[at] = stride;
    stride *= tensor.shape[at];
  }
  return strides;
}

/// Where rows lie one after the other: neighbours by one copy.
void copy_whole_rows(const TensorRef& from, std::span<const std::size_t> rows, const TensorRef& to, std::size_t first) {
  const std::size_t bytes = row_length(from.shape) * size_of(from.type);
  if (bytes == 0) return;
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t run = 1;
    while (i + run < rows.size() && rows[i + run] == rows[i] + run) ++run;
    std::memcpy(to.data + (first + i) * bytes, from.data + rows[i] * bytes, run * bytes);
    i += run;
  }
}

/// Where the elements of a row lie apart: one by one, the rows within a column first.
template <std::size_t Bytes>
void copy_elements(const TensorRef& from, std::span<const std::size_t> rows, const TensorRef& to, std::size_t first) {
  const std::vector<std::size_t> from_strides = strides_of(from);
  const std::vector<std::size_t> to_strides = strides_of(to);
  const std::size_t columns = row_length(from.shape);
  std::vector<std::size_t> at(from.shape.size());
  for (std::size_t column = 0; column < columns; ++column) {
    std::size_t from_column = 0;
    std::size_t to_column = 0;
    for (std::size_t d = 1; d < at.size(); ++d) {
      from_column += at[d] * from_strides[d];
      to_column += at[d] * to_strides[d];
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::memcpy(to.data + (to_column + (first + i) * to_strides[0]) * Bytes,
                  from.data + (from_column + rows[i] * from_strides[0]) * Bytes, Bytes);
    }
    for (std::size_t d = 1; d < at.size(); ++d) {
      if (++at[d] < from.shape[d]) break;
      at[d] = 0;
    }
  }
}

}  // namespace

void gather_rows(const TensorRef& from, std::span<const std::size_t> rows, const TensorRef& to, std::size_t first) {
  const auto rows_lie_together = [](const TensorRef& tensor) {
    return tensor.order == StorageOrder::row_major || tensor.shape.size() == 1 || tensor.shape.front() == 1;
  };
  const bool same_within = from.order == to.order || from.shape.size() <= 2;
  if (same_within && rows_lie_together(from) && rows_lie_together(to)) return copy_whole_rows(from, rows, to, first);
  switch (size_of(from.type)) {
    case 1:
      return copy_elements<1>(from, rows, to, first);
    case 2:
      return copy_elements<2>(from, rows, to, first);
    case 4:
      return copy_elements<4>(from, rows, to, first);
    case 8:
      return copy_elements<8>(from, rows, to, first);
    default:
      return copy_elements<16>(from, rows, to, first);
  }
}

std::size_t common_rows(const std::vector<TensorRef>& leaves, const Paths& paths) {
  for (std::size_t leaf = 1; leaf < leaves.size(); ++leaf) {
    if (leaves[leaf].shape.front() == leaves.front().shape.front()) continue;
    const std::vector<std::string> names = paths();
    throw Error(ErrorCode::invalid_argument, "Dataset: " + names.front() + " has " +
                                                 std::to_string(leaves.front().shape.front()) + " rows, " +
                                                 names[leaf] + " has " + std::to_string(leaves[leaf].shape.front()) +
                                                 ": give all parts the same length in their first dimension");
  }
  return leaves.empty() ? 0 : leaves.front().shape.front();
}

void check_row(const TensorRef& row, const TensorRef& batch, std::size_t element, std::size_t leaf,
               const Paths& paths) {
  const bool same = row.shape.size() == batch.shape.size() && row.type == batch.type &&
                    std::equal(row.shape.begin() + 1, row.shape.end(), batch.shape.begin() + 1);
  if (same) return;
  const Shape here(row.shape.begin() + 1, row.shape.end());
  const Shape before(batch.shape.begin() + 1, batch.shape.end());
  const std::string path = paths()[leaf];
  throw Error(ErrorCode::invalid_argument, "Dataset::batch: element " + std::to_string(element) + " has the shape " +
                                               to_string(here) + (path.empty() ? "" : " in " + path) +
                                               ", those before it in the batch " + to_string(before) +
                                               ": bring all to one shape by map before they are batched");
}

void check_leaves(std::size_t of_batch, std::size_t of_element) {
  if (of_batch == of_element) return;
  throw Error(ErrorCode::invalid_argument, "Dataset::batch: an element has " + std::to_string(of_element) +
                                               " tensors, the batch " + std::to_string(of_batch) +
                                               ": give all elements of a batch the same parts");
}

}  // namespace chorus::detail
