// SPDX-License-Identifier: Apache-2.0
#include "plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

namespace chorus::bench {
namespace {

// Okabe and Ito's colours, told apart by everybody, without the yellow.
constexpr std::array colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"};
constexpr std::array point_types = {7, 5, 9, 13};  // filled: circle, square, triangle, diamond

struct Series {
  std::string name;
  std::map<std::size_t, Quartiles> us;  ///< by bytes
  const char* colour;
  const char* dashes = "1";
};

Series& series_named(std::vector<Series>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Series& one) { return one.name == name; });
  if (found != all.end()) return *found;
  const char* colour = colours[all.size() % colours.size()];
  return all.emplace_back(Series{.name = name, .us = {}, .colour = colour});
}

// Where several algorithms were compared, the peer was measured beside each: the first measurement of a size stands for
// it.
std::vector<Series> series_of(std::span<const Point> points) {
  std::vector<Series> all;
  Series peer = {.name = {}, .us = {}, .colour = "#555555", .dashes = "'-'"};
  for (const Point& point : points) {
    if (!point.applies || point.bytes == 0) continue;
    const std::string name = point.comparison ? "chorus " + point.algorithm : point.algorithm;
    series_named(all, name).us.emplace(point.bytes, point.us);
    if (!point.comparison) continue;
    peer.name = names_of(point.comparison->peer).heading;
    peer.us.emplace(point.bytes, point.comparison->peer_us);
  }
  if (!peer.us.empty()) all.push_back(peer);
  return all;
}

std::string data_of(const Series& series) {
  std::string lines;
  for (const auto& [bytes, us] : series.us) lines += fmt::format("{} {} {} {}\n", bytes, us.median, us.p25, us.p75);
  return lines;
}

std::string size_label(std::size_t bytes) {
  for (const auto& [shift, unit] : {std::pair{30U, "GiB"}, std::pair{20U, "MiB"}, std::pair{10U, "KiB"}}) {
    const std::size_t whole = bytes >> shift;
    if (whole != 0 && (whole << shift) == bytes) return fmt::format("{} {}", whole, unit);
  }
  return fmt::format("{} B", bytes);
}

// Ten labels at most, the largest size among them.
std::string size_tics(std::span<const Point> points) {
  std::set<std::size_t> sizes;
  for (const Point& point : points) sizes.insert(point.bytes);
  sizes.erase(0);
  const std::size_t stride = sizes.size() / 11 + 1;
  std::string tics;
  std::size_t from_end = 0;
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size, ++from_end) {
    if (from_end % stride == 0) tics += fmt::format("{}\"{}\" {}", tics.empty() ? "" : ", ", size_label(*size), *size);
  }
  return tics;
}

std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2) text.insert(at, 1, '\'');
  return "'" + text + "'";
}

std::string title_of(const Point& point) {
  std::string title = fmt::format("chorus {}, {} rank{}", point.collective, point.ranks, point.ranks == 1 ? "" : "s");
  if (point.nodes > 1) title += fmt::format(" on {} nodes", point.nodes);
  if (!point.device.empty()) title += fmt::format(", memory of a device ({})", point.device);
  return title;
}

constexpr const char* style = R"(set encoding utf8
set border 3 linewidth 0.8 linecolor rgb '#888888'
set tics nomirror textcolor rgb '#333333'
set grid xtics ytics linetype 1 linewidth 0.6 linecolor rgb '#E3E3E3'
set key top left reverse Left spacing 1.2 samplen 2.5
set logscale x 2
set logscale y 10
set ytics ('1 ns' 1e-3, '10 ns' 1e-2, '100 ns' 0.1, '1 µs' 1, '10 µs' 10, '100 µs' 100, '1 ms' 1e3, '10 ms' 1e4, \
           '100 ms' 1e5, '1 s' 1e6, '10 s' 1e7)
set xlabel 'Message size'
set ylabel 'Latency: median, quartiles shaded'
)";

constexpr std::size_t most_keys_inside = 4;  // which leave the curves free

}  // namespace

bool can_plot() { return std::system("command -v gnuplot >/dev/null 2>&1") == 0; }

std::string plot_script(std::span<const Point> points, const std::string& svg_file, const std::string& note) {
  const std::vector<Series> all = series_of(points);
  if (all.empty()) return {};
  std::string script =
      "set terminal svg size 900,560 font 'Helvetica,Arial,sans-serif,15' background rgb 'white' noenhanced\n";
  script += fmt::format("set output {}\n{}", quoted(svg_file), style);
  if (all.size() > most_keys_inside) script += "set key outside top right\n";
  script += fmt::format("set title '{}' font ',19'{}\n", title_of(points.front()), note.empty() ? "" : " offset 0,0.7");
  if (!note.empty()) {
    script += fmt::format("set label {} at graph 0.5,1.03 center font ',12' textcolor rgb '#666666'\n", quoted(note));
  }
  script += fmt::format("set xtics ({})\n", size_tics(points));
  const auto [least, most] = std::ranges::minmax(points, {}, &Point::bytes);
  const bool one_size = least.bytes == most.bytes;
  // A little further than the largest size, whose label gnuplot leaves out where its logarithm is rounded up.
  script += one_size ? fmt::format("set xrange [{}:{}]\n", least.bytes / 2.0, least.bytes * 2.0)
                     : fmt::format("set xrange [*:{}]\n", most.bytes + most.bytes / 1000 + 1);
  std::string bands, lines;
  for (std::size_t index = 0; index < all.size(); ++index) {
    const Series& one = all[index];
    script += fmt::format("$s{} << EOD\n{}EOD\n", index, data_of(one));
    bands += fmt::format("$s{} using 1:3:4 with filledcurves fillstyle transparent solid 0.18 noborder ", index);
    bands += fmt::format("linecolor rgb '{}' notitle, ", one.colour);
    lines += fmt::format("{}$s{} using 1:2 with linespoints linewidth 2.2 dashtype {} ", index == 0 ? "" : ", ", index,
                         one.dashes);
    lines += fmt::format("pointtype {} pointsize 0.55 ", point_types[index / colours.size() % point_types.size()]);
    lines += fmt::format("linecolor rgb '{}' title '{}'", one.colour, one.name);
  }
  return script + "plot " + bands + lines + "\n";
}

bool plot(std::span<const Point> points, const std::string& svg_file, const std::string& note) {
  const std::string script = plot_script(points, svg_file, note);
  if (script.empty()) return false;
  std::FILE* gnuplot = popen("LC_ALL=C.UTF-8 gnuplot", "w");
  if (gnuplot == nullptr) return false;
  const bool written = std::fwrite(script.data(), 1, script.size(), gnuplot) == script.size();
  return pclose(gnuplot) == 0 && written;
}

}  // namespace chorus::bench
