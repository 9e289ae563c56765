// SPDX-License-Identifier: Apache-2.0
#include "core/replicas.hpp"

#include <chorus/float16.hpp>
#include <chorus/strategies/printing.hpp>
#include <chorus/strategies/strategy.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

template <class T>
std::string printed(const T& value) {
  return to_string(PerReplica<T>({}, {value}));
}

TEST(Printing, HasAnEntryForEachReplica) {
  MirroredStrategy strategy = mirrored(3);
  std::ostringstream out;
  out << strategy.run(id) << ' ' << strategy.extended().broadcast_to(1.5);
  EXPECT_EQ(out.str(), "PerReplica{0: 0, 1: 1, 2: 2} Mirrored{0: 1.5, 1: 1.5, 2: 1.5}");
  const PerReplica<int> of_worker_2({.workers = 3, .worker = 2, .local_replicas = 2}, {7, 8});
  EXPECT_EQ(to_string(of_worker_2), "PerReplica{4: 7, 5: 8}") << "their numbers among all";
}

TEST(Printing, OfTensorsAndStructures) {
  EXPECT_EQ(printed(std::vector<float>{1, 2.5}), "PerReplica{0: [1, 2.5]}");
  EXPECT_EQ(printed(std::vector<float>{}), "PerReplica{0: []}");
  EXPECT_EQ(printed(Tensor<int, 2>({1, 3}, {4, 5, 6})), "PerReplica{0: (1, 3) [4, 5, 6]}");
  EXPECT_EQ(printed(std::tuple(std::vector<int>{1}, true)), "PerReplica{0: {[0] [1], [1] true}}");
  EXPECT_EQ(printed(std::map<std::string, int>{{"a", 1}, {"b", 2}}), "PerReplica{0: {[a] 1, [b] 2}}");
  EXPECT_EQ(printed(std::map<std::string, int>{}), "PerReplica{0: {}}");
  EXPECT_EQ(printed(IndexedSlices<std::vector<int>>({7}, {3}, {10})),
            "PerReplica{0: slices of (10), rows [3], values [7]}");
  EXPECT_EQ(printed(std::string("text")), "PerReplica{0: text}");
}

TEST(Printing, NumbersOfEveryTypeAndFewOfMany) {
  EXPECT_EQ(printed(std::uint8_t{65}), "PerReplica{0: 65}");
  EXPECT_EQ(printed(float16_t(0.5F)), "PerReplica{0: 0.5}");
  EXPECT_EQ(printed(std::vector<int>(16, 1)).find("..."), std::string::npos);
  EXPECT_EQ(printed(std::vector<int>(17, 1)), "PerReplica{0: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ...]}");
}

TEST(Printing, IsOfWhatCanBePrintedOnly) {
  static_assert(detail::Printable<std::vector<int>>);
  static_assert(detail::Printable<std::unique_ptr<int>>, "as a pointer");
  static_assert(!detail::Printable<std::vector<std::unique_ptr<int>>>);
}

}  // namespace
}  // namespace chorus::test
