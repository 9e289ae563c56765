// SPDX-License-Identifier: Apache-2.0
#include "floor.hpp"

#include "base/names.hpp"
#include "console.hpp"
#include "crowding.hpp"
#include "floor_formulas.hpp"
#include "floor_report.hpp"
#include "measure.hpp"
#include "node_speed.hpp"
#include "subject.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

namespace chorus::bench {
namespace {

/// The collectives of a job that share a meter and the form of their tables.
class FloorTables {
 public:
  FloorTables(const Options& options, const Communicator& world, Outputs& outputs)
      : options_(options), world_(world), reversed_(*world.split(0, -world.rank())), outputs_(outputs) {}

  void run_speed();
  void run(const Row& row);

 private:
  void measure(Subject& subject, Point& point);

  const Options& options_;
  Communicator world_, reversed_;
  Outputs& outputs_;
  NodeMeter meter_{options_.sizes.max};
  bool crowded_ = ranks_share_processors();
};

void FloorTables::run_speed() {
  const std::vector<std::size_t> sizes = doubling_sizes(options_.sizes);
  Console console(world_.rank(), sizes.size());
  console.say(speed_heading(world_.size(), crowded_));
  for (const std::size_t bytes : sizes) {
    console.show(fmt::format("node: {} bytes", bytes));
    console.say(speed_line(bytes, meter_.measure(bytes)));
  }
}

void FloorTables::run(const Row& row) {
  Console console(world_.rank(), sizes_of(options_, row, world_.size()).size());
  Subject subject(options_, row, world_, console);
  const TableForm form = {.title = std::string(row.title),
                          .algorithm = "auto",
                          .ranks = world_.size(),
                          .has_size = row.has_size,
                          .crowded = crowded_};
  const Collective collective = collective_named(row.name).value();
  const std::size_t first = outputs_.points().size();
  console.say(floor_heading(form));
  for (const std::size_t bytes : subject.sizes()) {
    console.show(fmt::format("{}: {} bytes", row.name, bytes));
    const Floor floor = floor_of(needs_of(collective, bytes, world_.size()), meter_.measure(bytes), options_.memory);
    Point point = subject.point_of(subject.chosen_algorithm(bytes), bytes);
    measure(subject, point);
    point.floor_us = floor.us;
    console.say(floor_line(form, point, floor.bound));
    outputs_.record(point);
  }
  console.say(floor_summary(row.name, std::span(outputs_.points()).subspan(first)));
}

// A call overlaps the one before it where some rank need not wait for others, as the root of a bcast. Not so if calls
// take turns with such on the ranks in reverse order, where that rank is the last to be served.
void FloorTables::measure(Subject& subject, Point& point) {
  constexpr double seconds = 0.5;
  const Call call = subject.call_of("auto", point.bytes);
  point.valid = subject.validate(call, subject.row().chorus, point, "chorus");
  Call reversed = call;
  reversed.world = reversed_;
  const Side side = {{call, reversed}, subject.row().chorus};
  subject.note(measure_interleaved({&side, 1}, subject.effort(point.bytes, seconds)).front(), point);
}

void require_shared_memory(const Communicator& world) {
  if (world.size() < 2) throw Refusal("floor needs two ranks or more: mpirun -n 2 chorus-bench floor");
  if (!world.shares_memory()) {
    throw Refusal(
        "floor needs ranks that exchange data through the memory of one node, which these do not: start them on one, "
        "without CHORUS_SHARED_MEMORY=off; CHORUS_LOG=info tells more");
  }
}

}  // namespace

void run_floor(const Options& options, const Communicator& world, Outputs& outputs) {
  require_shared_memory(world);
  FloorTables tables(options, world, outputs);
  tables.run_speed();
  for (const Row& row : options.rows) tables.run(row);
  if (options.rows.size() > 1) Console(world.rank(), 0).say(floor_summary("all collectives", outputs.points()));
}

}  // namespace chorus::bench
