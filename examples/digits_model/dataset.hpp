// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/communicator.hpp>

#include <Eigen/Core>
#include <string>
#include <vector>

namespace digits {

inline constexpr int pixels = 64;   ///< an image has 8 x 8
inline constexpr int classes = 10;  ///< the digits 0 to 9

/// Images with the digits they show.
struct Dataset {
  Eigen::MatrixXd images;   ///< [pixels, n], one image per column, from 0 (white) to 1 (black)
  std::vector<int> labels;  ///< [n], from 0 to classes - 1

  [[nodiscard]] int size() const noexcept { return static_cast<int>(labels.size()); }
};

/// Gives every rank the images in `path`, read by rank 0 alone: a CSV file, gzipped or not, with 64 values from 0 to 16
/// and the label on each line. Called by every rank.
///
/// Throws   examples::InputError on every rank where rank 0 cannot read the file or finds it malformed.
[[nodiscard]] Dataset load(const chorus::Communicator& world, const std::string& path);

}  // namespace digits
