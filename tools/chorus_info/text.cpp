// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "gpus.hpp"
#include "plan.hpp"
#include "pu_list.hpp"
#include "words.hpp"

namespace chorus::info {
namespace {

struct Line {
  std::string place;
  std::vector<std::string> ranks;  ///< one below the other at the right
};

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

/// One machine as lines.
class Lines {
 public:
  Lines(const Survey& survey, const Machine& machine)
      : survey_(&survey), machine_(&machine), names_hosts_(machine.hosts.size() > 1) {}

  void add_machine(const Spot& plan, const std::string& title) {
    std::string heading = fmt::format("{}: {}", title, summary_of(plan));
    for (const auto* memory : plan.memories) heading += fmt::format("; NUMA {}", memory->os_index);
    lines_.push_back({heading + marks(plan), {}});
    if (!plan.ranks.empty()) lines_.push_back({"  whole machine", ranks_at(plan)});
    add_inside(plan, 1);
    for (const std::string& gpu : gpu_lines(machine_->topology)) lines_.push_back({"  " + gpu, {}});
  }

  /// The lines with the ranks in one column.
  [[nodiscard]] std::string text() const {
    std::size_t width = 0;
    for (const Line& line : lines_) {
      if (!line.ranks.empty()) width = std::max(width, line.place.size());
    }
    std::string text;
    for (const Line& line : lines_) {
      if (line.ranks.empty()) text += line.place + "\n";
      for (std::size_t i = 0; i < line.ranks.size(); ++i) {
        text += fmt::format("{}   {}\n", padded(i == 0 ? line.place : "", width), line.ranks[i]);
      }
    }
    return text;
  }

 private:
  void add(const Spot& spot, std::size_t depth) {
    const std::string indent(2 * depth, ' ');
    if (spot.is_core() || spot.is_pu()) {
      lines_.push_back({indent + label(spot) + marks(spot), ranks_at(spot)});
      return;
    }
    if (const std::string cores = only_idle_cores(spot); !cores.empty()) {
      lines_.push_back({fmt::format("{}{}  {}", indent, label(spot), cores), ranks_at(spot)});
      if (!spot.devices.empty()) lines_.push_back({indent + "  " + devices(spot), {}});
      return;
    }
    lines_.push_back({indent + label(spot) + marks(spot), ranks_at(spot)});
    add_inside(spot, depth + 1);
  }

  void add_inside(const Spot& spot, std::size_t depth) {
    const std::string indent(2 * depth, ' ');
    const std::span<const Spot> children = spot.children;
    for (std::size_t i = 0; i < children.size();) {
      const std::size_t length = idle_run(children.subspan(i));
      if (length > 1) {
        lines_.push_back({indent + idle_cores(children.subspan(i, length)), {}});
        i += length;
      } else {
        add(children[i++], depth);
      }
    }
    if (!spot.devices.empty()) lines_.push_back({indent + devices(spot), {}});
  }

  /// A core without ranks that may be used, or may not be used, as a whole.
  static bool is_plain(const Spot& spot) {
    return (spot.is_core() || spot.is_pu()) && spot.most_ranks == 0 &&
           (spot.forbidden.none() || spot.forbidden == spot.pus);
  }

  /// How many cores at the start can be drawn together.
  static std::size_t idle_run(std::span<const Spot> spots) {
    std::size_t length = 0;
    while (length < spots.size() && is_plain(spots[length]) &&
           spots[length].forbidden.any() == spots[0].forbidden.any()) {
      ++length;
    }
    return length;
  }

  /// "Cores 4-7 (PU 8-15)"; `cores` are plain and alike.
  static std::string idle_cores(std::span<const Spot> cores) {
    PuSet pus;
    for (const Spot& core : cores) pus |= core.pus;
    const char* const mark = cores.front().forbidden.any() ? " [not allowed]" : "";
    if (!cores.front().is_core()) return fmt::format("PU {}{}", readable(pus), mark);
    const auto number = [](const Spot& core) {
      const auto at = std::find_if(core.objects.begin(), core.objects.end(),
                                   [](const auto* object) { return object->kind == Topology::Kind::core; });
      return (*at)->index;
    };
    return fmt::format("Cores {}-{} (PU {}){}", number(cores.front()), number(cores.back()), readable(pus), mark);
  }

  /// The same where `spot` holds nothing else, and nothing has to be said of itself.
  static std::string only_idle_cores(const Spot& spot) {
    if (spot.children.size() < 2 || spot.overfull || idle_run(spot.children) != spot.children.size()) return "";
    return idle_cores(spot.children);
  }

  /// What is out of the ordinary.
  [[nodiscard]] static std::string marks(const Spot& spot) {
    std::string marks;
    const bool leaf = spot.is_core() || spot.is_pu();
    if (leaf && spot.forbidden == spot.pus)
      marks += " [not allowed]";
    else if (leaf && spot.forbidden.any())
      marks += fmt::format(" [PU {} not allowed]", readable(spot.forbidden));
    if (spot.overfull)
      marks += fmt::format(" [oversubscribed: {} on {}]", counted(spot.most_ranks, "rank"), usable(spot));
    for (const Spot& pu : spot.children) {
      if (spot.is_core() && pu.overfull) {
        marks += fmt::format(" [oversubscribed: {} on PU {}]", counted(pu.most_ranks, "rank"), readable(pu.pus));
      }
    }
    return marks;
  }

  static std::string usable(const Spot& spot) { return counted((spot.pus & ~spot.forbidden).count(), "PU"); }

  /// The ranks at a place; those on single PUs of a core with it.
  [[nodiscard]] std::vector<std::string> ranks_at(const Spot& spot) const {
    std::vector<std::string> texts;
    for (const int rank : spot.ranks) texts.push_back(rank_text(survey_->ranks[rank], spot));
    if (!spot.is_core()) return texts;
    for (const Spot& pu : spot.children) {
      for (const int rank : pu.ranks) texts.push_back(rank_text(survey_->ranks[rank], spot));
    }
    return texts;
  }

  [[nodiscard]] std::string rank_text(const RankRecord& record, const Spot& spot) const {
    std::string text = fmt::format("rank {}  ", padded(std::to_string(record.rank), digits()));
    if (names_hosts_) text += fmt::format("{} ", survey_->hosts[survey_->host_of[record.rank]].name);
    text += fmt::format("pid {}", record.pid);
    if (!record.binding.bound)
      text += ", not bound";
    else if (record.binding.pus != spot.pus)
      text += fmt::format(", PU {}", readable(record.binding.pus));
    return text;
  }

  [[nodiscard]] std::size_t digits() const { return std::to_string(survey_->ranks.size() - 1).size(); }

  const Survey* survey_;
  const Machine* machine_;
  bool names_hosts_;
  std::vector<Line> lines_;
};

}  // namespace

std::string report_text(const Survey& survey) {
  std::string text;
  for (const Machine& machine : survey.machines) {
    const Spot plan = plan_of(survey, machine);
    Lines lines(survey, machine);
    lines.add_machine(plan, host_names(survey, machine));
    text += lines.text() + "\n";
  }
  if (survey.ranks.empty()) text.pop_back();
  if (const std::string gpus = gpu_report(survey); !gpus.empty()) text += gpus + "\n";
  if (const std::string divided = divisions(survey); !divided.empty()) text += divided + "\n";
  if (const std::string summary = summary_of(survey); !summary.empty()) text += summary + "\n";
  return text;
}

}  // namespace chorus::info
