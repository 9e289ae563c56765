// SPDX-License-Identifier: Apache-2.0
#include "dataset.hpp"

#include "../program.hpp"

#include <chorus/interop/eigen.hpp>

#include <zlib.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

namespace digits {
namespace {

constexpr int values_per_line = pixels + 1;  // the last one is the label
constexpr int darkest = 16;
using Line = std::array<int, values_per_line>;
using GzipFile = std::unique_ptr<gzFile_s, decltype(&gzclose)>;

[[noreturn]] void fail(const std::string& path, const std::string& problem) {
  throw examples::InputError(
      fmt::format("{}: {} (fetch the file with scripts/fetch-digits, or name another with --data)", path, problem));
}

/// The values of one line, or nothing where it is not 64 values from 0 to 16 and a digit.
std::optional<Line> parse_line(std::string_view text) {
  Line line{};
  const char* position = text.data();
  const char* const end = position + text.size();
  for (int field = 0; field < values_per_line; ++field) {
    if (field > 0 && (position == end || *position++ != ',')) return std::nullopt;
    int& value = line[field];
    const auto [next, error] = std::from_chars(position, end, value);
    const int largest = field == pixels ? classes - 1 : darkest;
    if (error != std::errc() || value < 0 || value > largest) return std::nullopt;
    position = next;
  }
  return position == end ? std::optional(line) : std::nullopt;
}

/// Throws where zlib has met an error, after `lines` good lines.
void check_stream(gzFile file, const std::string& path, std::size_t lines) {
  int status = Z_OK;
  std::string_view reason = gzerror(file, &status);
  if (status == Z_ERRNO) fail(path, std::strerror(errno));
  if (reason.starts_with(path + ": ")) reason.remove_prefix(path.size() + 2);
  if (status != Z_OK) fail(path, fmt::format("damaged after line {}: {}", lines, reason));
}

/// All lines of the file; `path` is named in every error.
std::vector<Line> read_lines(const std::string& path) {
  errno = 0;
  const GzipFile file(gzopen(path.c_str(), "rb"), &gzclose);
  if (!file) fail(path, errno != 0 ? std::strerror(errno) : "out of memory");

  std::vector<Line> lines;
  std::array<char, 512> buffer;  // the longest right line has 194 characters
  while (gzgets(file.get(), buffer.data(), buffer.size()) != nullptr) {
    std::string_view text(buffer.data());
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    const auto line = parse_line(text);
    if (!line) {
      check_stream(file.get(), path, lines.size());
      fail(path, fmt::format("line {} is not {} whole numbers from 0 to {} and a digit, separated by commas",
                             lines.size() + 1, pixels, darkest));
    }
    lines.push_back(*line);
  }
  check_stream(file.get(), path, lines.size());
  if (lines.empty()) fail(path, "the file is empty");
  return lines;
}

Dataset read(const std::string& path) {
  const auto lines = read_lines(path);
  Dataset data{Eigen::MatrixXd(pixels, lines.size()), std::vector<int>(lines.size())};
  for (int image = 0; image < data.size(); ++image) {
    const Line& line = lines[image];
    data.images.col(image) = Eigen::Map<const Eigen::VectorXi>(line.data(), pixels).cast<double>() / darkest;
    data.labels[image] = line[pixels];
  }
  return data;
}

}  // namespace

Dataset load(const chorus::Communicator& world, const std::string& path) {
  Dataset data;
  std::string problem;
  if (world.rank() == 0) {
    try {
      data = read(path);
    } catch (const examples::InputError& error) {
      problem = error.what();
    }
  }

  // The other ranks learn what is coming, or why nothing is: none is left waiting for data.
  std::array<int, 2> sizes = {data.size(), static_cast<int>(problem.size())};
  chorus::bcast(world, sizes, 0);
  problem.resize(sizes[1]);
  chorus::bcast(world, problem, 0);
  if (!problem.empty()) throw examples::InputError(problem);

  data.images.resize(pixels, sizes[0]);
  data.labels.resize(sizes[0]);
  chorus::bcast(world, chorus::elements(data.images), 0);
  chorus::bcast(world, data.labels, 0);
  return data;
}

}  // namespace digits
