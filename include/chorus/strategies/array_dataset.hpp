// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>
#include <chorus/export.hpp>
#include <chorus/strategies/dataset.hpp>
#include <chorus/strategies/detail/sources.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace chorus {

/// The rows of `arrays`: element i is row i of every leaf. Batches have the type of `arrays`, and each row is copied
/// once, into its batch.
/// Shapes   all leaves have the same length in their first dimension.
/// Memory   `arrays` are kept, once, as long as a copy of the dataset lives or what is made of it: move large ones in.
/// Throws   Error{invalid_argument}, which names two leaves, where their lengths differ.
template <BatchStructure B>
[[nodiscard]] Dataset<Row<B>> make_array_dataset(B arrays) {
  return Dataset<Row<B>>(std::make_shared<const detail::ArrayStage<B>>(std::move(arrays)));
}

/// The same of several arrays: the rows, and the batches, are tuples.
template <BatchStructure... B>
requires(sizeof...(B) >= 2) [[nodiscard]] Dataset<Row<std::tuple<B...>>> make_array_dataset(B... arrays) {
  return make_array_dataset(std::tuple<B...>(std::move(arrays)...));
}

/// The numbers from 0 to count - 1.
[[nodiscard]] CHORUS_API Dataset<std::int64_t> range(std::size_t count);

/// The numbers first, first + step, ... that are below `last`, or above it where `step` is negative.
/// Throws   Error{invalid_argument} where `step` is 0.
[[nodiscard]] CHORUS_API Dataset<std::int64_t> range(std::int64_t first, std::int64_t last, std::int64_t step = 1);

/// What a function gives until it gives nothing more. `factory()` returns that function for each iterator anew; the
/// function returns a std::optional of the element.
template <class Factory>
[[nodiscard]] auto make_generator_dataset(Factory factory, Cardinality cardinality = Cardinality::unknown()) {
  using Given = std::remove_cvref_t<decltype(factory()())>;
  static_assert(std::is_same_v<Given, std::optional<typename Given::value_type>>,
                "the factory returns a function that returns a std::optional of the element");
  using T = typename Given::value_type;
  return Dataset<T>(std::make_shared<const detail::GeneratorStage<T, Factory>>(std::move(factory), cardinality));
}

}  // namespace chorus
