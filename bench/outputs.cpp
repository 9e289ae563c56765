// SPDX-License-Identifier: Apache-2.0
#include "outputs.hpp"

#include "plot.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace chorus::bench {
namespace {

/// `error` is rank 0's errno.
void refuse_together(int error, const char* option, const std::string& file) {
  MPI_Bcast(&error, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (error != 0) throw Refusal(fmt::format("{}: cannot write {}: {}", option, file, std::strerror(error)));
}

}  // namespace

Outputs::Outputs(const Options& options, int rank) : rank_(rank), plot_file_(options.plot_file), note_(options.note) {
  if (!options.json_file.empty()) open_json(options.json_file);
  if (!plot_file_.empty()) open_plot();
}

void Outputs::open_json(const std::string& file) {
  int error = 0;
  if (rank_ == 0) {
    json_.open(file);
    error = json_ ? 0 : errno;
  }
  refuse_together(error, "--json", file);
}

void Outputs::open_plot() {
  int error = 0;
  if (rank_ == 0) {
    plots_ = can_plot();
    if (!plots_) {
      fmt::print(stderr,
                 "chorus-bench: warning: no plot will be drawn: gnuplot is missing (Debian: apt install "
                 "gnuplot-nox)\n");
    }
    if (plots_ && !std::ofstream(plot_file_)) error = errno;
  }
  refuse_together(error, "--plot", plot_file_);
}

void Outputs::record(const Point& point) {
  points_.push_back(point);
  if (!json_.is_open() || !point.applies) return;
  if (!(json_ << json_line(point, note_) << std::flush))
    throw std::runtime_error("the file of --json cannot be written");
}

void Outputs::draw() const {
  if (plots_ && !plot(points_, plot_file_, note_)) {
    fmt::print(stderr, "chorus-bench: warning: gnuplot could not draw {}\n", plot_file_);
  }
}

}  // namespace chorus::bench
