// SPDX-License-Identifier: Apache-2.0
#include "overlap_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace chorus::bench {
namespace {

struct Column {
  std::string name;
  double value = 0;
  int digits = 3;
};

// In the order in which they are printed.
class Columns {
 public:
  explicit Columns(bool full) : full_(full) {}

  void add(const std::string& name, double value) { all_.push_back({name, value}); }
  void add(const std::string& name, const Estimate& estimate, int digits) {
    all_.push_back({name, estimate.value, digits});
    if (!full_) return;
    all_.push_back({"Low", estimate.low, digits});
    all_.push_back({"High", estimate.high, digits});
  }
  [[nodiscard]] const std::vector<Column>& all() const noexcept { return all_; }

 private:
  bool full_;
  std::vector<Column> all_;
};

std::vector<Column> columns_of(const OverlapForm& form, const Point& point) {
  const Overlap overlap = point.overlap.value_or(Overlap());
  Columns columns(form.table.full);
  columns.add("Blocking(us)", point.us.median);
  columns.add("Nonblocking(us)", overlap.nonblocking_us.median);
  columns.add("Ratio", overlap.nonblocking_ratio, 3);
  columns.add("Persistent(us)", overlap.persistent_us.median);
  columns.add("Ratio", overlap.persistent_ratio, 3);
  columns.add("Compute(us)", overlap.hidden.compute_us);
  columns.add("Overlap(%)", overlap.hidden.untested, 1);
  columns.add("Tested(%)", overlap.hidden.tested, 1);
  if (form.table.compare) {
    const NativeOverlap native = overlap.native.value_or(NativeOverlap());
    columns.add("MPI Nonblocking(us)", native.nonblocking_us.median);
    columns.add("MPI Overlap(%)", native.hidden.untested, 1);
    columns.add("MPI Tested(%)", native.hidden.tested, 1);
  }
  return columns.all();
}

int width_of(const Column& column) {
  constexpr int narrowest = 9, gap = 2;
  return std::max(narrowest, static_cast<int>(column.name.size()) + gap);
}

std::string_view words_of(ProgressThread thread) {
  switch (thread) {
    case ProgressThread::on:
      return "on";
    case ProgressThread::impossible:
      return "off, as MPI runs without MPI_THREAD_MULTIPLE: calls advance inside chorus only";
    case ProgressThread::off:
      break;
  }
  return "off: calls advance inside chorus only (CHORUS_PROGRESS_THREAD=1 makes one)";
}

std::string circumstances(const OverlapForm& form) {
  const Company& company = form.company;
  const bool threads = company.progress_thread == ProgressThread::on;
  std::string text = fmt::format("# Progress thread: {}.\n", words_of(company.progress_thread));
  text += fmt::format(
      "# Processors: {} for {} rank{}{} on the fullest node{}.\n", company.processors, company.ranks,
      company.ranks == 1 ? "" : "s",
      threads ? fmt::format(" and {} progress thread{}", company.ranks, company.ranks == 1 ? "" : "s") : std::string(),
      threads && company.processors < 2 * company.ranks ? ": threads and computations share them" : "");
  text += fmt::format("# Compute: {}, for as long as the nonblocking call takes. Tested: {} times meanwhile.\n",
                      form.compute == Compute::busy ? "busy" : "sleeping (the processor is free)", form.tests);
  return text;
}

}  // namespace

std::string overlap_heading(const OverlapForm& form) {
  std::string text = preamble(form.table, "Overlap") + circumstances(form);
  text += "# Ratio: over blocking, medians; below 1 it is faster than the blocking call.\n";
  text += fmt::format("{:<12}", form.table.has_size ? "# Size" : "#");
  for (const Column& column : columns_of(form, {})) text += fmt::format("{:>{}}", column.name, width_of(column));
  return text + "\n";
}

std::string overlap_line(const OverlapForm& form, const Point& point) {
  std::string text = fmt::format("{:<12}", form.table.has_size ? fmt::to_string(point.bytes) : "");
  for (const Column& column : columns_of(form, point)) {
    text += fmt::format("{:>{}.{}f}", column.value, width_of(column), column.digits);
  }
  return text + "\n";
}

}  // namespace chorus::bench
