// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/strategies/batch.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace chorus {

/// One row of arrays that are shared, not yet copied: what a dataset of arrays is made of. It may be shuffled and taken
/// along cheaply; batches of rows have the type of the arrays, and each of their rows is copied once.
template <BatchStructure B>
class Row {
 public:
  Row(std::shared_ptr<const B> arrays, std::size_t index) noexcept : arrays_(std::move(arrays)), index_(index) {}

  [[nodiscard]] const B& arrays() const noexcept { return *arrays_; }
  [[nodiscard]] std::size_t index() const noexcept { return index_; }

  /// The row, copied: of a vector a number, of a matrix a vector, of a tuple a tuple of them. Members of an aggregate
  /// cannot change their types: of an aggregate it is one with a single row.
  [[nodiscard]] auto value() const {
    if constexpr (detail::Aggregate<B> && !Leaf<B>) {
      return slice_rows(*arrays_, index_, 1);
    } else {
      static_assert(!detail::has_aggregate<B>(),
                    "an aggregate within a tuple has no rows of another type: batch first");
      const auto slice = [index = index_](const auto& leaf) { return slice_of(leaf, index); };
      return map_structure(slice, *arrays_);
    }
  }

 private:
  template <class LeafType>
  static auto slice_of(const LeafType& leaf, std::size_t index) {
    using Traits = LeafTraits<LeafType>;
    using Slice = typename Traits::template Less<1>;
    Shape shape = Traits::shape(leaf);
    const Shape rest(shape.begin() + 1, shape.end());
    Slice slice = LeafTraits<Slice>::make(rest);
    TensorRef to = tensor_ref(slice);
    // With a first dimension of length 1 it is the same memory in either order.
    to.shape.insert(to.shape.begin(), 1);
    const TensorRef from{data_type_of<ScalarOf<LeafType>>(), Traits::order, std::move(shape),
                         detail::tensors_to_read(leaf).front().data};
    detail::gather_rows(from, std::span(&index, 1), to, 0);
    return slice;
  }

  std::shared_ptr<const B> arrays_;
  std::size_t index_;
};

namespace detail {

template <class T>
inline constexpr bool is_row = false;
template <class B>
inline constexpr bool is_row<Row<B>> = true;

struct StackedLeaf {
  template <class LeafType>
  auto operator()(const LeafType& leaf) const {
    using More = typename LeafTraits<LeafType>::More;
    Shape shape = LeafTraits<LeafType>::shape(leaf);
    shape.insert(shape.begin(), 0);
    return LeafTraits<More>::make(shape);
  }
};

/// What batch() makes of elements of type T unless it is told: of rows their arrays' type, of others the structure with
/// one dimension more in each leaf.
template <class T>
struct BatchOf {
  static_assert(every_leaf<IsLeaf, T>(),
                "only numbers, tensors and structures of them can be batched: map them to such");
  static_assert(!has_aggregate<T>(),
                "the members of an aggregate cannot change their types: name the batch's, as in "
                "batch<Batch>(32), with the same members in the same order and one dimension more");
  static_assert(every_leaf<HasMore, T>(), "there is no tensor type with one dimension more than a part's");
  using Type = decltype(map_structure(StackedLeaf{}, std::declval<const T&>()));
};
template <class B>
struct BatchOf<Row<B>> {
  using Type = B;
};

template <class B>
struct BatchNamed {
  static_assert(BatchStructure<B>, "each part of a batch has a first dimension of any length: its rows");
  using Type = B;
};

/// A batch without rows that has the rows' shapes of `element`.
template <BatchStructure B, class T>
B stacked_shape(const T& element) {
  if constexpr (!has_aggregate<T>()) {
    if constexpr (std::is_same_v<B, typename BatchOf<T>::Type>) return map_structure(StackedLeaf{}, element);
  }
  const std::vector<TensorRef> parts = tensors_to_read(element);
  B batch{};
  check_leaves(tensors_of(batch).size(), parts.size());
  std::size_t part = 0;
  for_each_leaf(batch, [&](auto& leaf, const LeafPath& path) {
    using Traits = LeafTraits<std::remove_reference_t<decltype(leaf)>>;
    const TensorRef& tensor = parts[part++];
    Shape shape = tensor.shape;
    shape.insert(shape.begin(), 0);
    if (shape.size() == Traits::rank && tensor.type == data_type_of<typename Traits::Scalar>()) {
      leaf = Traits::make(shape);
      return;
    }
    throw Error(ErrorCode::invalid_argument, "Dataset::batch: " + path.text() +
                                                 " of the batch does not have the type of " +
                                                 "the elements' part of shape " + to_string(tensor.shape) +
                                                 ", or not one dimension more: give both the same numbers");
  });
  return batch;
}

/// The batch of elements first to first + count - 1 of `elements`, which are not empty.
template <BatchStructure B, class T>
B stack(std::span<const T> elements, std::size_t first, std::size_t count) {
  B batch = zero_rows(stacked_shape<B>(elements.front()), count);
  if constexpr (Number<T> && requires { batch[0] = elements[0]; }) {
    for (std::size_t i = 0; i < count; ++i) batch[i] = elements[first + i];
    return batch;
  }
  const std::vector<TensorRef> targets = tensors_of(batch);
  const std::size_t only[] = {0};
  for (std::size_t i = 0; i < count; ++i) {
    const T& element = elements[first + i];
    check_structure(element, elements.front(), first + i);
    std::vector<TensorRef> parts = tensors_to_read(element);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      parts[part].shape.insert(parts[part].shape.begin(), 1);
      check_row(parts[part], targets[part], first + i, part, [&] { return paths_of(element); });
      gather_rows(parts[part], only, targets[part], i);
    }
  }
  return batch;
}

/// The same of rows: those that come from the same arrays one after the other are gathered together.
template <BatchStructure B>
B stack(std::span<const Row<B>> elements, std::size_t first, std::size_t count) {
  B batch = zero_rows(elements.front().arrays(), count);
  std::vector<std::size_t> indices;
  for (std::size_t done = 0; done < count; done += indices.size()) {
    const B& arrays = elements[first + done].arrays();
    indices.clear();
    for (std::size_t i = done; i < count && &elements[first + i].arrays() == &arrays; ++i) {
      indices.push_back(elements[first + i].index());
    }
    gather(arrays, indices, batch, done);
  }
  return batch;
}

}  // namespace detail

}  // namespace chorus
