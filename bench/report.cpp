// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace chorus::bench {
namespace {

constexpr int size_width = 10;
constexpr int column_width = 18;

struct Column {
  std::string name;
  std::string (*text)(const Point&);
  int width = column_width;  ///< negative: aligned to the left
};

std::string padded(const std::string& text, int width) {
  return width < 0 ? fmt::format("{:<{}}", text, -width) : fmt::format("{:>{}}", text, width);
}

std::string latency(double us) { return fmt::format("{:.2f}", us); }

std::vector<Column> latency_columns(const TableForm& form) {
  std::vector<Column> columns = {{"Avg Latency(us)", [](const Point& p) { return latency(p.osu.avg_us); }}};
  if (form.full) {
    columns.push_back({"Min Latency(us)", [](const Point& p) { return latency(p.osu.min_us); }});
    columns.push_back({"Max Latency(us)", [](const Point& p) { return latency(p.osu.max_us); }});
    columns.push_back({"Iterations", [](const Point& p) { return fmt::to_string(p.osu.iterations); }, 12});
  }
  return columns;
}

std::string of_peer(const TableForm& form, std::string_view figure) {
  return fmt::format("{} {}", names_of(form.peer).heading, figure);
}

std::vector<Column> comparison_columns(const TableForm& form) {
  std::vector<Column> columns = {
      {"Chorus Median(us)", [](const Point& p) { return precise(p.us.median); }},
      {of_peer(form, "Median(us)"), [](const Point& p) { return precise(p.comparison->peer_us.median); }},
      {"Ratio", [](const Point& p) { return precise(p.comparison->ratio.value); }, 12},
      {"Ratio Low", [](const Point& p) { return precise(p.comparison->ratio.low); }, 12},
      {"Ratio High", [](const Point& p) { return precise(p.comparison->ratio.high); }, 12}};
  if (form.full) columns.push_back({"Iterations", [](const Point& p) { return fmt::to_string(p.iterations); }, 12});
  return columns;
}

// The percentiles stand where the OSU benchmarks put theirs: last.
std::vector<Column> columns_of(const TableForm& form) {
  std::vector<Column> columns = form.compare ? comparison_columns(form) : latency_columns(form);
  if (!form.device.empty()) {
    columns.push_back({"Bus BW(GB/s)", [](const Point& p) { return fmt::format("{:.2f}", p.busbw_mb_s / 1000); }, 14});
  }
  if (form.check) {
    columns.push_back({"Validation", [](const Point& p) { return std::string(p.valid ? "Pass" : "Fail"); }});
  }
  if (form.full && form.compare) {
    columns.push_back({"Chorus P25(us)", [](const Point& p) { return precise(p.us.p25); }});
    columns.push_back({"Chorus P75(us)", [](const Point& p) { return precise(p.us.p75); }});
    columns.push_back({of_peer(form, "P25(us)"), [](const Point& p) { return precise(p.comparison->peer_us.p25); }});
    columns.push_back({of_peer(form, "P75(us)"), [](const Point& p) { return precise(p.comparison->peer_us.p75); }});
  } else if (form.full) {
    columns.push_back({"P25 Latency(us)", [](const Point& p) { return precise(p.us.p25); }});
    columns.push_back({"P50 Latency(us)", [](const Point& p) { return precise(p.us.median); }});
    columns.push_back({"P75 Latency(us)", [](const Point& p) { return precise(p.us.p75); }});
  }
  if (form.has_size) {
    columns.insert(columns.begin(), {"# Size", [](const Point& p) { return fmt::to_string(p.bytes); }, -size_width});
  } else {
    columns.front().name.insert(0, "# ");
    columns.front().width = static_cast<int>(columns.front().name.size());
  }
  return columns;
}

void add_estimate(nlohmann::ordered_json& object, const std::string& name, const Estimate& estimate) {
  object[name] = estimate.value;
  object[name + "_low"] = estimate.low;
  object[name + "_high"] = estimate.high;
}

void add_overlap(nlohmann::ordered_json& object, const Overlap& overlap) {
  object["nonblocking_median_us"] = overlap.nonblocking_us.median;
  add_estimate(object, "nonblocking_ratio", overlap.nonblocking_ratio);
  object["persistent_median_us"] = overlap.persistent_us.median;
  add_estimate(object, "persistent_ratio", overlap.persistent_ratio);
  object["compute_us"] = overlap.hidden.compute_us;
  add_estimate(object, "overlap_percent", overlap.hidden.untested);
  add_estimate(object, "tested_overlap_percent", overlap.hidden.tested);
  if (!overlap.native) return;
  object["native_nonblocking_median_us"] = overlap.native->nonblocking_us.median;
  object["native_compute_us"] = overlap.native->hidden.compute_us;
  add_estimate(object, "native_overlap_percent", overlap.native->hidden.untested);
  add_estimate(object, "native_tested_overlap_percent", overlap.native->hidden.tested);
}

}  // namespace

std::string precise(double number) { return fmt::format("{:.3f}", number); }

std::string preamble(const TableForm& form, std::string_view test) {
  std::string text = fmt::format("\n# chorus {} {} Test v{}\n", form.title, test, CHORUS_VERSION);
  if (form.has_size) text += "# Datatype: MPI_FLOAT.\n";
  text += fmt::format("# Ranks: {}.{}\n", form.ranks,
                      form.algorithm.empty() ? "" : fmt::format(" Algorithm: {}.", form.algorithm));
  if (!form.device.empty()) text += fmt::format("# Memory: device ({}).\n", form.device);
  if (form.crowded) text += "# Note: more ranks than processors on a node: the times depend on the scheduler.\n";
  return text;
}

std::string heading(const TableForm& form) {
  std::string text = preamble(form, "Latency");
  if (form.compare) {
    text += fmt::format("# Ratio: chorus/{}, medians, with a 95 % interval; below 1 chorus is faster.\n",
                        names_of(form.peer).heading);
  }
  for (const Column& column : columns_of(form)) text += padded(column.name, column.width);
  return text + "\n";
}

std::string line(const TableForm& form, const Point& point) {
  std::string text;
  for (const Column& column : columns_of(form)) {
    const bool measured = point.applies || column.width < 0;
    text += padded(measured ? column.text(point) : "n/a", column.width);
    if (!measured) break;
  }
  return text + "\n";
}

std::string summary(std::span<const Point> points) {
  std::vector<double> ratios;
  std::optional<Peer> peer;
  for (const Point& point : points) {
    if (!point.comparison) continue;
    ratios.push_back(point.comparison->ratio.value);
    peer = point.comparison->peer;
  }
  if (ratios.empty()) return {};
  return fmt::format("# Geometric mean of the ratios (chorus/{}): {:.3f}\n", names_of(*peer).heading,
                     geometric_mean(ratios));
}

std::string json_line(const Point& point, const std::string& note) {
  nlohmann::ordered_json object = {{"collective", point.collective},
                                   {"algorithm", point.algorithm},
                                   {"ranks", point.ranks},
                                   {"nodes", point.nodes},
                                   {"ranks_per_node", point.ranks_per_node},
                                   {"bytes", point.bytes},
                                   {"median_us", point.us.median},
                                   {"p25_us", point.us.p25},
                                   {"p75_us", point.us.p75},
                                   {"iterations", point.iterations},
                                   {"calls_per_iteration", point.calls_per_iteration},
                                   {"busbw_mb_s", point.busbw_mb_s},
                                   {"valid", point.valid}};
  if (!point.device.empty()) {
    object["memory"] = "device";
    object["device"] = point.device;
  }
  if (point.comparison) {
    object[fmt::format("{}_median_us", names_of(point.comparison->peer).word)] = point.comparison->peer_us.median;
    add_estimate(object, "ratio", point.comparison->ratio);
  }
  if (point.chosen) object["chosen"] = *point.chosen;
  if (point.floor_us) object["floor_us"] = *point.floor_us;
  if (point.overlap) add_overlap(object, *point.overlap);
  if (!note.empty()) object["note"] = note;
  return object.dump() + "\n";
}

}  // namespace chorus::bench
