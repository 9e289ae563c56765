// SPDX-License-Identifier: Apache-2.0
#include "svg_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "words.hpp"

namespace chorus::info {
namespace {

using Kind = Topology::Kind;

constexpr double padding = 8;
constexpr double gap = 6;
constexpr double chip_height = 18;
constexpr double chip_gap = 4;
constexpr double tag_height = 20;
constexpr double tag_size = 11;
constexpr int most_chip_rows = 4;
constexpr double least_machine_width = 400;  // a machine of one core is a picture too
constexpr double screen_ratio = 1.7;         // of width to height

bool is_small(const Spot& spot) noexcept { return spot.is_core() || spot.is_pu(); }

/// Sizes that all places of one machine have in common.
class Layout {
 public:
  Layout(const Spot& machine, std::size_t ranks_of_job) {
    const double digits = static_cast<double>(std::to_string(ranks_of_job).size());
    chip_width_ = std::max(24.0, 8 + 7.5 * digits);
    pu_width_ = std::max(42.0, chip_width_ + 2 * chip_gap);
    find_rows(machine);
  }

  /// A box that is as small as it can be, its contents not yet placed.
  [[nodiscard]] Box measure(const Spot& spot) const {
    Box box;
    box.spot = &spot;
    describe(box);
    for (const Spot& child : spot.children) box.children.push_back(measure(child));
    const Grid grid = grid_of(box.children);
    box.columns = grid.columns;
    const double inner = std::max({grid.width, header_width(box), is_small(spot) ? pu_width_ - 2 * chip_gap : 0.0});
    box.area.width = inner + 2 * inset(spot);
    box.area.height = above_children(box, inner) + grid.height + devices_height(box, inner) + inset(spot);
    return box;
  }

  /// Gives `box` its place and size, at least the measured one, and its contents theirs: the children share the room.
  void place(Box& box, const Area& area) const {
    box.area = area;
    const double left = area.x + inset(*box.spot), width = area.width - 2 * inset(*box.spot);
    const double top = area.y + above_children(box, width);
    const double bottom = area.y + area.height - inset(*box.spot) - devices_height(box, width);
    place_above(box, left, width);
    place_devices(box, left, bottom, width);
    if (box.children.empty()) return;
    const double space = space_between(box.children);
    const std::size_t rows = (box.children.size() + box.columns - 1) / box.columns;
    const auto share = [space](double room, std::size_t count) {
      return (room + space) / static_cast<double>(count) - space;
    };
    const double cell_width = share(width, box.columns), cell_height = share(bottom - top, rows);
    for (std::size_t i = 0; i < box.children.size(); ++i) {
      const auto column = static_cast<double>(i % box.columns), row = static_cast<double>(i / box.columns);
      place(box.children[i],
            {left + column * (cell_width + space), top + row * (cell_height + space), cell_width, cell_height});
    }
  }

 private:
  struct Grid {
    std::size_t columns = 1;
    double width = 0, height = 0;
  };

  static double inset(const Spot& spot) noexcept { return is_small(spot) ? chip_gap : padding; }

  void find_rows(const Spot& spot) {
    if (spot.is_pu())
      pu_rows_ = std::max(pu_rows_, rows(spot, pu_width_ - 2 * chip_gap));
    else if (spot.is_core())
      core_rows_ = std::max(core_rows_, rows(spot, core_width(spot) - 2 * chip_gap));
    for (const Spot& child : spot.children) find_rows(child);
  }

  [[nodiscard]] double core_width(const Spot& core) const {
    const auto pus = static_cast<double>(std::max<std::size_t>(core.children.size(), 1));
    return pus * (pu_width_ + chip_gap) + chip_gap;
  }

  [[nodiscard]] std::size_t per_row(double width) const {
    return std::max<std::size_t>(1, static_cast<std::size_t>((width + chip_gap) / (chip_width_ + chip_gap)));
  }

  [[nodiscard]] int rows(const Spot& spot, double width) const {
    const std::size_t columns = per_row(width);
    return std::min(most_chip_rows, static_cast<int>((spot.ranks.size() + columns - 1) / columns));
  }

  static void describe(Box& box) {
    const Spot& spot = *box.spot;
    const std::string whole = label(spot);
    const std::size_t bracket = whole.find(" (");
    box.title = whole.substr(0, bracket);
    if (is_small(spot)) {
      box.title_size = spot.is_pu() ? 9 : 10;
      if (spot.is_core() && spot.children.empty()) box.subtitle = fmt::format("PU {}", spot.objects.back()->os_index);
      return;
    }
    std::vector<std::string> sizes;
    for (const auto* object : spot.objects) {
      if (object->bytes > 0) sizes.push_back(readable_bytes(object->bytes));
      if (!object->name.empty()) box.subtitle = object->name;
    }
    box.details = joined(sizes, ", ");
    for (const auto* memory : spot.memories) {
      const std::string size = memory->bytes > 0 ? readable_bytes(memory->bytes) : "";
      box.tags.push_back({{}, memory, fmt::format("NUMA {}", memory->os_index), size});
    }
    for (const auto* device : spot.devices) {
      const std::string name = device->name.empty() ? std::to_string(device->index) : device->name;
      box.tags.push_back({{}, device, fmt::format("{} {}", chorus::name(device->kind), name), ""});
    }
  }

  static double header_width(const Box& box) {
    double widest = text_width(box.subtitle, box.title_size - 1);
    widest = std::max(widest, text_width(box.title, box.title_size, !is_small(*box.spot)) +
                                  (box.details.empty() ? 0 : 8) + text_width(box.details, box.title_size - 1));
    for (const Tag& tag : box.tags) widest = std::max(widest, tag_width(tag));
    return widest;
  }

  static double tag_width(const Tag& tag) {
    return text_width(tag.text, tag_size) + text_width(tag.details, tag_size) + 16;
  }

  /// The number of columns that comes nearest to the shape of a screen; a full last row is worth something too.
  static Grid grid_of(const std::vector<Box>& boxes) {
    Grid best;
    if (boxes.empty()) return best;
    double cell_width = 0, cell_height = 0;
    for (const Box& box : boxes) {
      cell_width = std::max(cell_width, box.area.width);
      cell_height = std::max(cell_height, box.area.height);
    }
    const double space = space_between(boxes);
    double least_cost = 1e9;
    for (std::size_t columns = 1; columns <= boxes.size(); ++columns) {
      const std::size_t rows = (boxes.size() + columns - 1) / columns;
      if (boxes.front().spot->is_pu() && rows > 1 && boxes.size() <= 4) continue;  // PUs of a core stand side by side
      const double width = static_cast<double>(columns) * (cell_width + space) - space;
      const double height = static_cast<double>(rows) * (cell_height + space) - space;
      const double cost = std::abs(std::log(width / height / screen_ratio)) + (boxes.size() % columns == 0 ? 0 : 0.7);
      if (cost >= least_cost) continue;
      least_cost = cost;
      best = {columns, width, height};
    }
    return best;
  }

  static double space_between(const std::vector<Box>& boxes) { return is_small(*boxes.front().spot) ? chip_gap : gap; }

  static bool is_memory(const Tag& tag) noexcept { return tag.object->kind == Kind::numa; }

  static double titles_height(const Box& box) {
    const double lines = box.subtitle.empty() ? 1 : 2;
    return inset(*box.spot) + lines * (box.title_size + 3) + (is_small(*box.spot) ? 0 : 3);
  }

  /// From the upper edge of the box to its children: titles, memories, ranks.
  [[nodiscard]] double above_children(const Box& box, double width) const {
    const auto memories = std::count_if(box.tags.begin(), box.tags.end(), is_memory);
    return titles_height(box) + static_cast<double>(memories) * (tag_height + gap) + chips_height(*box.spot, width);
  }

  void place_above(Box& box, double left, double width) const {
    double y = box.area.y + titles_height(box);
    for (Tag& tag : box.tags) {
      if (!is_memory(tag)) continue;
      tag.area = {left, y, width, tag_height};
      y += tag_height + gap;
    }
    place_chips(box, left, y, width);
  }

  /// Places the devices in rows; returns their height.
  static double place_devices(Box& box, double left, double top, double width) {
    double x = left, y = top;
    bool any = false;
    for (Tag& tag : box.tags) {
      if (is_memory(tag)) continue;
      if (!any) y += gap;
      if (any && x + tag_width(tag) > left + width) {
        x = left;
        y += tag_height + chip_gap;
      }
      tag.area = {x, y, tag_width(tag), tag_height};
      x += tag_width(tag) + chip_gap;
      any = true;
    }
    return any ? y + tag_height - top : 0;
  }

  static double devices_height(Box box, double width) { return place_devices(box, 0, 0, width); }

  [[nodiscard]] double chips_height(const Spot& spot, double width) const {
    const int count = spot.is_pu() ? pu_rows_ : spot.is_core() ? core_rows_ : rows(spot, width);
    if (count == 0) return 0;
    const double below = spot.children.empty() ? 0 : chip_gap;
    return count * (chip_height + chip_gap) - chip_gap + (is_small(spot) ? below : gap);
  }

  void place_chips(Box& box, double left, double top, double width) const {
    const std::vector<int>& ranks = box.spot->ranks;
    const std::size_t columns = per_row(width), room = columns * most_chip_rows;
    // A single rank on a core or PU fills its width.
    const bool wide = is_small(*box.spot) && ranks.size() == 1;
    for (std::size_t i = 0; i < std::min(ranks.size(), room); ++i) {
      const double column = static_cast<double>(i % columns), row = static_cast<double>(i / columns);
      const bool rest = i + 1 == room && ranks.size() > room;
      box.chips.push_back({{left + column * (chip_width_ + chip_gap), top + row * (chip_height + chip_gap),
                            wide ? width : chip_width_, chip_height},
                           ranks[i],
                           rest ? static_cast<int>(ranks.size() - i) : 1});
    }
  }

  double chip_width_ = 0;
  double pu_width_ = 0;
  int core_rows_ = 0;
  int pu_rows_ = 0;
};

}  // namespace

Box lay_out(const Spot& machine, double x, double y, std::size_t ranks_of_job) {
  const Layout layout(machine, ranks_of_job);
  Box box = layout.measure(machine);
  layout.place(box, {x, y, std::max(box.area.width, least_machine_width), box.area.height});
  return box;
}

}  // namespace chorus::info
