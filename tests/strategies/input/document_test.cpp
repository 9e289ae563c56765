// SPDX-License-Identifier: Apache-2.0
// Holds the table of docs/input.md to split_batch.
#include <chorus/strategies/split.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace chorus {
namespace {

std::string listed(const std::vector<std::size_t>& sizes) {
  std::string text;
  for (const std::size_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return text;
}

/// The numbers in "24, 12".
std::vector<double> numbers_in(std::string text) {
  for (char& character : text) character = character == ',' ? ' ' : character;
  std::istringstream stream(text);
  return {std::istream_iterator<double>(stream), {}};
}

TEST(Document, ItsTableOfSharesIsTrue) {
  const char* const path = std::getenv("INPUT_DOCUMENT");
  if (path == nullptr) GTEST_SKIP() << "INPUT_DOCUMENT names docs/input.md; meson sets it";
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line != "| rows | replicas | shares |") {
  }
  std::getline(file, line);
  int rows_seen = 0;
  for (; std::getline(file, line) && line.starts_with("| "); ++rows_seen) {
    std::istringstream cells(line.substr(2));
    std::size_t rows = 0;
    std::string bar;
    std::string replicas;
    std::string shares;
    cells >> rows >> bar;
    std::getline(cells, replicas, '|');
    std::getline(cells, shares, '|');
    const std::size_t weights = replicas.find("weights");
    const auto split = weights == std::string::npos ? split_batch(rows, std::stoi(replicas))
                                                    : split_batch(rows, numbers_in(replicas.substr(weights + 7)));
    std::string expected = " ";
    expected += listed(split);
    expected += ' ';
    EXPECT_EQ(expected, shares) << line;
  }
  EXPECT_GE(rows_seen, 7);
}

}  // namespace
}  // namespace chorus
