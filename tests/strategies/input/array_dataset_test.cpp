// SPDX-License-Identifier: Apache-2.0
#include "strategies/input/collect.hpp"

#include <chorus/strategies/array_dataset.hpp>
#include <chorus/strategies/dataset.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus {
namespace {

using test::collect;
using testing::ElementsAre;
using testing::HasSubstr;
using Matrix = Tensor<float, 2>;

struct Images {
  Matrix pixels;
  std::vector<int> labels;
};
static_assert(BatchStructure<Images> && BatchStructure<std::vector<int>> && BatchStructure<std::pair<Matrix, Matrix>>);
static_assert(!BatchStructure<int> && !BatchStructure<std::string> && !BatchStructure<std::tuple<Matrix, int>>);
static_assert(!BatchStructure<std::vector<bool>> && !BatchStructure<std::array<float, 3>>);

Matrix counted(std::size_t rows, std::size_t columns) {
  Matrix matrix({rows, columns});
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix.values()[i] = static_cast<float>(i);
  return matrix;
}

TEST(ArrayDataset, Case112SlicesNestedArraysAlike) {
  const auto batches = make_array_dataset(std::vector<float>(10, 1), counted(10, 3)).batch(4);
  EXPECT_EQ(batches.cardinality(), Cardinality::known(3));
  const auto all = collect(batches);
  EXPECT_EQ(std::get<0>(all[2]).size(), 2U);
  EXPECT_EQ(std::get<1>(all[2]), Matrix({2, 3}, {24, 25, 26, 27, 28, 29}));
  const std::string text =
      test::rejection([] { static_cast<void>(make_array_dataset(std::vector<float>(10), std::vector<float>(9))); });
  EXPECT_THAT(text, HasSubstr("[0] has 10 rows"));
  EXPECT_THAT(text, HasSubstr("[1] has 9"));
}

TEST(ArrayDataset, BatchesHaveTheTypeOfTheArrays) {
  const Dataset<Images> batches = make_array_dataset(Images{counted(5, 2), {0, 10, 20, 30, 40}}).batch(2);
  const auto all = collect(batches);
  EXPECT_EQ(all[1].pixels, Matrix({2, 2}, {4, 5, 6, 7}));
  EXPECT_THAT(all[2].labels, ElementsAre(40));
  using Parts = std::map<std::string, std::vector<int>>;
  const auto parts = collect(make_array_dataset(Parts{{"a", {1, 2, 3}}, {"b", {4, 5, 6}}}).batch(2));
  EXPECT_EQ(parts[1], (Parts{{"a", {3}}, {"b", {6}}}));
}

TEST(ArrayDataset, RowsKeepTogetherHoweverTheyAreMixed) {
  Images images{counted(40, 3), {}};
  for (int i = 0; i < 40; ++i) images.labels.push_back(i);
  std::vector<bool> seen(40);
  for (const Images& batch : make_array_dataset(images).shuffle(40, 3).batch(7)) {
    for (std::size_t row = 0; row < batch.labels.size(); ++row) {
      const auto label = static_cast<std::size_t>(batch.labels[row]);
      EXPECT_FALSE(seen[label]);
      seen[label] = true;
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(batch.pixels(row, i), static_cast<float>(label * 3 + i));
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 40);
}

TEST(ArrayDataset, RowsAreWhatIsLeftOfTheArrays) {
  const auto rows = make_array_dataset(counted(3, 2), std::vector<int>{7, 8, 9});
  const auto [pixels, label] = collect(rows)[1].value();
  EXPECT_THAT(pixels, ElementsAre(2, 3));
  EXPECT_EQ(label, 8);
  const auto sums = rows.map([](const std::tuple<std::vector<float>, int>& row) {
    return std::get<0>(row)[0] + static_cast<float>(std::get<1>(row));
  });
  EXPECT_THAT(collect(sums.batch(2)), ElementsAre(std::vector<float>{7, 10}, std::vector<float>{13}));
  const auto whole = collect(make_array_dataset(Images{counted(3, 2), {7, 8, 9}}).skip(2))[0].value();
  EXPECT_EQ(whole.pixels, Matrix({1, 2}, {4, 5}));
  EXPECT_THAT(whole.labels, ElementsAre(9));
}

TEST(ArrayDataset, MapsOfAnotherOrderKeepTheirKeys) {
  using Parts = std::map<int, std::vector<int>, std::greater<>>;
  const auto parts = make_array_dataset(Parts{{1, {10, 11, 12}}, {2, {20, 21, 22}}});
  EXPECT_EQ(collect(parts.batch(2))[1], (Parts{{1, {12}}, {2, {22}}}));
  const Dataset<Parts> stacked = parts.map([](const auto& row) { return row; }).batch(2);
  EXPECT_EQ(collect(stacked)[0], (Parts{{1, {10, 11}}, {2, {20, 21}}}));
}

TEST(ArrayDataset, KeepsItsArraysWhileARowIsLeft) {
  std::vector<Row<std::vector<int>>> rows;
  { rows = collect(make_array_dataset(std::vector<int>{1, 2, 3})); }
  EXPECT_EQ(rows[2].value(), 3);
}

TEST(ArrayDataset, RowsOfNothingAreNoTrouble) {
  EXPECT_TRUE(collect(make_array_dataset(std::vector<int>{}).batch(3)).empty());
  const auto flat = collect(make_array_dataset(Matrix({3, 0})).batch(2));
  EXPECT_EQ(flat[1].shape(), (Shape{1, 0}));
}

TEST(ArrayDataset, SlicesAndConcatenates) {
  const Images images{counted(5, 2), {0, 1, 2, 3, 4}};
  EXPECT_EQ(row_count(images), 5U);
  const Images parts[] = {slice_rows(images, 0, 2), slice_rows(images, 2, 0), slice_rows(images, 2, 3)};
  EXPECT_EQ(parts[1].pixels.shape(), (Shape{0, 2}));
  const Images joined = concatenate<Images>(parts);
  EXPECT_EQ(joined.pixels, images.pixels);
  EXPECT_EQ(joined.labels, images.labels);
  const Matrix unlike[] = {Matrix({1, 2}), Matrix({1, 3})};
  EXPECT_THAT(test::rejection([&] { static_cast<void>(concatenate<Matrix>(unlike)); }), HasSubstr("(3)"));
  using Parts = std::map<std::string, std::vector<int>>;
  const Parts other_keys[] = {{{"a", {1, 2}}, {"b", {3, 4}}}, {{"a", {5}}, {"c", {6}}}};
  EXPECT_THAT(test::rejection([&] { static_cast<void>(concatenate<Parts>(other_keys)); }),
              HasSubstr("element 2 has [c] where those before it in the batch have [b]"));
}

}  // namespace
}  // namespace chorus
