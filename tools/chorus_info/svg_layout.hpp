// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "plan.hpp"
#include "svg_canvas.hpp"

namespace chorus::info {

/// A rank's number in its little coloured box; "+7" for those there is no room for.
struct Chip {
  Area area;
  int rank = 0;   ///< the first of those it stands for
  int count = 1;  ///< how many
};

/// A memory or device in its little box.
struct Tag {
  Area area;
  const Topology::Object* object = nullptr;
  std::string text, details;
};

/// A place of the machine, and where it is drawn.
struct Box {
  const Spot* spot = nullptr;
  Area area;
  std::string title, details, subtitle;
  double title_size = 12;
  std::size_t columns = 1;  ///< of the grid of children
  std::vector<Tag> tags;
  std::vector<Chip> chips;
  std::vector<Box> children;
};

/// Lays out a machine with its upper left corner at (x, y): children in a grid that makes the whole about as wide as a
/// screen, all cores and PUs of one machine equal in size.
[[nodiscard]] Box lay_out(const Spot& machine, double x, double y, std::size_t ranks_of_job);

}  // namespace chorus::info
