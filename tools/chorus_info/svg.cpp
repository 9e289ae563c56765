// SPDX-License-Identifier: Apache-2.0
#include "svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "gpus.hpp"
#include "plan.hpp"
#include "pu_list.hpp"
#include "svg_canvas.hpp"
#include "svg_layout.hpp"
#include "words.hpp"

namespace chorus::info {
namespace {

using Kind = Topology::Kind;

constexpr double margin = 20;
constexpr const char* alarm = "#c81e1e";
constexpr const char* alarm_light = "#fde2e1";
constexpr const char* forbidden_fill = "url(#hatch)";
constexpr const char* used_fill = "#dbe7fb";  // a PU that a rank is bound to
// Colours of the ranks, by host; all bear white letters.
constexpr const char* host_colours[] = {"#1d5fc4", "#a8481c", "#2a7d4f", "#7a3fb0",
                                        "#8a6a10", "#0f7680", "#b0306b", "#4b5563"};

RectStyle style_of(Kind kind) {
  switch (kind) {
    case Kind::machine:
      return {"#f8fafc", "#94a3b8", 1, 8};
    case Kind::package:
      return {"#eef1f6", "#8b97aa", 1, 6};
    case Kind::numa:
      return {"#e2f1e5", "#7fae8a", 1, 5};
    case Kind::l3:
      return {"#e9e6f6", "#a79fce", 1, 5};
    case Kind::l2:
      return {"#f5e9f3", "#c39fbd", 1, 4};
    case Kind::core:
      return {"#ffffff", "#aab4c3", 1, 4};
    case Kind::pu:
      return {"#f3f4f6", "#c5ccd6", 1, 3};
    case Kind::gpu:
      return {"#d5efc5", "#6ba043", 1, 4};
    case Kind::network:
      return {"#fdeecb", "#d0a136", 1, 4};
    default:
      return {"#f1f5f9", "#a3b1c6", 1, 5};
  }
}

Kind kind_of(const Spot& spot) { return spot.is_core() ? Kind::core : spot.objects.front()->kind; }

class Picture {
 public:
  explicit Picture(const Survey& survey) : survey_(&survey) {}

  void add_machine(const Machine& machine) {
    const Spot plan = plan_of(*survey_, machine);
    canvas_.text(margin, y_ + 18, host_names(*survey_, machine), {.size = 18, .bold = true});
    canvas_.text(margin, y_ + 37, summary_of(plan), {.fill = grey});
    widen(text_width(summary_of(plan), 12));
    y_ += 48;
    topology_ = &machine.topology;
    const Box box = lay_out(plan, margin, y_, survey_->ranks.size());
    draw(box, {});
    widen(box.area.width);
    y_ += box.area.height + margin;
  }

  void add_footer() {
    add_legend();
    for (const std::string& line : {divisions(*survey_), summary_of(*survey_)}) {
      if (line.empty()) continue;
      const bool alarming = line.find("oversubscribed") != std::string::npos;
      canvas_.text(margin, y_ + 12, line, {.fill = alarming ? alarm : grey, .bold = alarming});
      widen(text_width(line, 12, alarming));
      y_ += 20;
    }
  }

  [[nodiscard]] std::string file() const {
    return canvas_.file(width_ + 2 * margin, y_ + margin - 8, "chorus-info topology");
  }

 private:
  void widen(double width) { width_ = std::max(width_, width); }

  /// `used`: PUs of the ranks further out that are bound to them.
  void draw(const Box& box, PuSet used) {
    const Spot& spot = *box.spot;
    for (const int rank : spot.ranks) {
      if (survey_->ranks[rank].binding.bound) used |= survey_->ranks[rank].binding.pus;
    }
    canvas_.begin_group(tooltip(spot));
    canvas_.rect(box.area, fill_of(spot, used));
    shown_.insert(kind_of(spot));
    draw_titles(box);
    for (const Tag& tag : box.tags) draw(tag);
    canvas_.end_group();
    for (const Box& child : box.children) draw(child, used);
    for (const Chip& chip : box.chips) draw(chip, spot.overfull);
  }

  RectStyle fill_of(const Spot& spot, const PuSet& used) {
    RectStyle style = style_of(kind_of(spot));
    const bool leaf = spot.children.empty();
    if (leaf && spot.forbidden.any()) {
      style.fill = forbidden_fill;
      shows_forbidden_ = true;
    } else if (leaf && (spot.pus & used).any()) {
      style.fill = used_fill;
      shows_used_ = true;
    }
    if (spot.overfull) {
      style.stroke = alarm;
      style.stroke_width = 2;
      if (leaf) style.fill = alarm_light;
      shows_overfull_ = true;
    }
    return style;
  }

  void draw_titles(const Box& box) {
    const bool small = box.title_size < 12;
    const double left = box.area.x + (small ? 5 : 9), size = box.title_size;
    const double first = box.area.y + (small ? 3 : 8) + size;
    const char* const colour = small ? "#4b5563" : "#1f2937";
    canvas_.text(left, first, box.title, {.size = size, .fill = colour, .bold = !small}, box.details);
    if (!box.subtitle.empty()) {
      canvas_.text(left, first + size + 2, box.subtitle, {.size = size - 1, .fill = grey});
    }
  }

  void draw(const Tag& tag) {
    const std::string facts = tag.object->kind == Kind::gpu ? gpu_facts(*tag.object, *topology_) : "";
    if (!facts.empty()) canvas_.begin_group(facts);
    canvas_.rect(tag.area, style_of(tag.object->kind));
    canvas_.text(tag.area.x + 6, tag.area.y + 14, tag.text, {.size = 11}, tag.details);
    if (!facts.empty()) canvas_.end_group();
    shown_.insert(tag.object->kind);
  }

  void draw(const Chip& chip, bool overfull) {
    const bool bound = survey_->ranks[chip.rank].binding.bound;
    const char* const colour = overfull && !several_hosts() ? alarm : colour_of(survey_->host_of[chip.rank]);
    const std::string text = chip.count > 1 ? fmt::format("+{}", chip.count) : std::to_string(chip.rank);
    canvas_.begin_group(chip.count > 1 ? counted(chip.count, "more rank") : describe(chip.rank));
    canvas_.rect(chip.area, chip_style(colour, bound));
    canvas_.text(chip.area.x + chip.area.width / 2, chip.area.y + 13, text,
                 {.size = 11, .fill = bound ? "#ffffff" : colour, .bold = true, .centred = true});
    canvas_.end_group();
    (bound ? shows_bound_ : shows_unbound_) = true;
  }

  static RectStyle chip_style(const char* colour, bool bound) {
    return {.fill = bound ? colour : "#ffffff", .stroke = colour, .stroke_width = 1.5, .radius = 4};
  }

  [[nodiscard]] bool several_hosts() const noexcept { return survey_->hosts.size() > 1; }

  static const char* colour_of(int host) {
    return host_colours[static_cast<std::size_t>(host) % std::size(host_colours)];
  }

  [[nodiscard]] std::string describe(int rank) const {
    const RankRecord& record = survey_->ranks[rank];
    const std::string where = record.binding.bound ? fmt::format("PU {}", readable(record.binding.pus)) : "not bound";
    const std::string gpu = taken_gpu(*survey_, rank);
    return fmt::format("rank {} on {}, pid {}, {}{}{}", rank, survey_->hosts[survey_->host_of[rank]].name, record.pid,
                       where, gpu.empty() ? "" : "\n", gpu);
  }

  [[nodiscard]] std::string tooltip(const Spot& spot) const {
    std::string text = label(spot);
    if (spot.forbidden.any()) text += fmt::format("\nnot allowed: PU {}", readable(spot.forbidden));
    for (const int rank : spot.ranks) text += fmt::format("\n{}", describe(rank));
    return text;
  }

  /// Explains what was drawn, and nothing else.
  void add_legend() {
    double x = margin;
    const auto entry = [&](const RectStyle& style, const std::string& text) {
      const double width = 18 + 6 + text_width(text, 11) + 12;
      if (x > margin && x + width > margin + std::max(width_, 400.0)) {
        x = margin;
        y_ += 22;
      }
      canvas_.rect({x, y_, 18, 14}, style);
      canvas_.text(x + 24, y_ + 11, text, {.size = 11});
      x += width;
    };
    if (!several_hosts() && shows_bound_) entry(chip_style(colour_of(0), true), "rank");
    for (std::size_t host = 0; several_hosts() && host < std::min(survey_->hosts.size(), std::size(host_colours));
         ++host) {
      const bool others = survey_->hosts.size() > host + std::size(host_colours);
      entry(chip_style(colour_of(static_cast<int>(host)), true),
            fmt::format("ranks of {}{}", survey_->hosts[host].name, others ? " and others" : ""));
    }
    if (shows_unbound_) entry(chip_style(colour_of(0), false), "rank that is not bound");
    if (shows_used_) entry({.fill = used_fill, .stroke = "#aab4c3", .radius = 3}, "a rank is bound to it");
    if (shows_overfull_)
      entry({.fill = alarm_light, .stroke = alarm, .stroke_width = 2, .radius = 3}, "oversubscribed");
    if (shows_forbidden_) entry({.fill = forbidden_fill, .stroke = "#aab4c3", .radius = 3}, "not allowed");
    constexpr const char* names[] = {"machine",  "group",    "package", "die", "NUMA domain", "L3 cache",
                                     "L2 cache", "L1 cache", "core",    "PU",  "GPU",         "network"};
    for (const Kind kind : shown_) {
      if (kind != Kind::machine) entry(style_of(kind), names[static_cast<int>(kind)]);
    }
    y_ += 30;
  }

  const Survey* survey_;
  const Topology* topology_ = nullptr;  // of the machine that is drawn
  SvgCanvas canvas_;
  double y_ = margin;
  double width_ = 0;
  std::set<Kind> shown_;
  bool shows_bound_ = false;
  bool shows_unbound_ = false;
  bool shows_used_ = false;
  bool shows_overfull_ = false;
  bool shows_forbidden_ = false;
};

}  // namespace

std::string report_svg(const Survey& survey) {
  Picture picture(survey);
  for (const Machine& machine : survey.machines) picture.add_machine(machine);
  picture.add_footer();
  return picture.file();
}

}  // namespace chorus::info
