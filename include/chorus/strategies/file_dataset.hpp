// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>
#include <chorus/strategies/dataset.hpp>
#include <chorus/strategies/detail/csv.hpp>
#include <chorus/strategies/detail/lines.hpp>
#include <chorus/strategies/detail/sources.hpp>
#include <chorus/strategies/npy.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Data in files, read when an iterator comes to them, file by file. AutoShardPolicy::file divides the files.
namespace chorus {

/// The lines of text files, without their ends (LF or CR LF).
/// Throws   Error{invalid_argument} while iterating, which names a file that cannot be read.
[[nodiscard]] CHORUS_API Dataset<std::string> make_text_dataset(std::vector<std::string> files);

/// The rows of files of numbers, one row a line, as vectors. Blanks around numbers and empty lines are passed over.
/// Shapes   all rows have the same number of columns; integers fit into T.
/// Throws   Error{invalid_argument} while iterating, which names file, line and column of what is no number.
template <Number T>
requires(!std::same_as<T, bool> && !detail::is_complex<T>)
    [[nodiscard]] Dataset<std::vector<T>> make_csv_dataset(std::vector<std::string> files, CsvOptions options = {}) {
  using Stage = detail::FilesStage<std::vector<T>>;
  const auto open = [options](const std::string& file) -> std::unique_ptr<detail::Cursor<std::vector<T>>> {
    return std::make_unique<detail::CsvRows<T>>(std::make_unique<detail::Lines>(file, "make_csv_dataset"), file,
                                                options);
  };
  return Dataset<std::vector<T>>(std::make_shared<const Stage>(std::move(files), open));
}

/// The rows of NumPy's .npy files, which hold arrays of type T with `Rank` dimensions: batches are of type
/// Tensor<T, Rank>, or std::vector<T>. Each file is read whole when an iterator comes to it.
/// Throws   what read_npy throws, while iterating.
template <Number T, int Rank>
[[nodiscard]] auto make_npy_dataset(std::vector<std::string> files) {
  using Array = typename detail::TensorOf<T, Rank>::Type;
  static_assert(BatchStructure<Array>, "an array of one dimension or more, of numbers that are not bool");
  using Rows = typename detail::ArrayStage<Array>::Rows;
  const auto open = [](const std::string& file) -> std::unique_ptr<detail::Cursor<Row<Array>>> {
    auto array = std::make_shared<const Array>(read_npy<T, Rank>(file));
    const std::size_t rows = row_count(*array);
    return std::make_unique<Rows>(std::move(array), rows);
  };
  return Dataset<Row<Array>>(std::make_shared<const detail::FilesStage<Row<Array>>>(std::move(files), open));
}

}  // namespace chorus
