// SPDX-License-Identifier: Apache-2.0
#include "preload/report.hpp"

#include "base/names.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace chorus::preload {
namespace {

constexpr std::array<std::string_view, path_count> path_names = {
    "chorus",
    "MPI: expected to be faster",
    "MPI: communicator hardly used",
    "MPI: communicator of one rank",
    "MPI: intercommunicator",
    "MPI: ranks of several jobs",
    "MPI: wrong setting of chorus",
    "MPI: data type",
    "MPI: more than 2 GiB",
    "MPI: wrong argument",
    "MPI: nonblocking",
    "MPI: persistent",
};

}  // namespace

void Report::read_environment() noexcept {
  const char* const wish = std::getenv("CHORUS_REPORT");
  wanted_ = wish != nullptr && std::string_view(wish) == "1";
}

Report& Report::get() noexcept {
  static Report report;
  return report;
}

void Report::add(const Offer& offer, Clock::duration time) noexcept {
  Row& row = rows_[static_cast<std::size_t>(offer.call.collective)][static_cast<std::size_t>(offer.path)];
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  row.calls.fetch_add(1, std::memory_order_relaxed);
  row.bytes.fetch_add(offer.call.bytes(), std::memory_order_relaxed);
  row.nanoseconds.fetch_add(static_cast<std::uint64_t>(nanoseconds), std::memory_order_relaxed);
}

void Report::print(int ranks) const {
  if (!wanted_) return;
  std::string text = fmt::format("chorus: the collectives of rank 0 of {}\n{:<22}{:<32}{:>12}{:>16}{:>14}{:>12}\n",
                                 ranks, "collective", "carried out by", "calls", "bytes", "time (ms)", "us a call");
  for (std::size_t collective = 0; collective < rows_.size(); ++collective) {
    for (std::size_t path = 0; path < path_names.size(); ++path) {
      const Row& row = rows_[collective][path];
      const std::uint64_t calls = row.calls.load(std::memory_order_relaxed);
      if (calls == 0) continue;
      const double microseconds = static_cast<double>(row.nanoseconds.load(std::memory_order_relaxed)) / 1e3;
      text += fmt::format("{:<22}{:<32}{:>12}{:>16}{:>14.3f}{:>12.2f}\n", name(static_cast<Collective>(collective)),
                          path_names[path], calls, row.bytes.load(std::memory_order_relaxed), microseconds / 1e3,
                          microseconds / static_cast<double>(calls));
    }
  }
  std::fputs(text.c_str(), stderr);
}

}  // namespace chorus::preload
