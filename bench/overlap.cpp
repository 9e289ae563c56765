// SPDX-License-Identifier: Apache-2.0
#include "overlap.hpp"

#include "computation.hpp"
#include "console.hpp"
#include "crowding.hpp"
#include "measure.hpp"
#include "nonblocking_table.hpp"
#include "overlap_report.hpp"
#include "subject.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::bench {
namespace {

constexpr double seconds_each = 0.25;

/// A nonblocking call with something between its start and its end.
using Around = std::function<void(const Computation*, std::size_t tests)>;

Around around_chorus(const NonblockingRow& row, const Call& call) {
  return [&row, call](const Computation* computation, std::size_t tests) {
    Request request = row.start(call);
    if (computation != nullptr) {
      computation->run(tests + 1, [&] { static_cast<void>(request.test()); });
    }
    request.wait();
  };
}

Around around_native(const NonblockingRow& row, const Call& call) {
  return [&row, call](const Computation* computation, std::size_t tests) {
    MPI_Request request = MPI_REQUEST_NULL;
    row.native(call, request);
    if (computation != nullptr) {
      computation->run(tests + 1, [&] {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      });
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
}

template <class One>
Block repeated(One one) {
  return [one](std::size_t calls) {
    for (std::size_t done = 0; done < calls; ++done) one();
  };
}

/// The collectives of a job that share the form of their tables.
class OverlapTables {
 public:
  OverlapTables(const Options& options, const Communicator& world, Outputs& outputs)
      : options_(options), world_(world), outputs_(outputs) {}

  void run(const Row& row);

 private:
  struct Forms {
    Call call;
    PersistentRequest persistent;
    Around chorus, native;
  };

  [[nodiscard]] Point measure(Subject& subject, std::size_t bytes);
  [[nodiscard]] bool validate(Subject& subject, const Point& point);
  void measure_forms(const Subject& subject, Forms& forms, Point& point);
  [[nodiscard]] Hidden measure_hidden(const Subject& subject, const Around& around, const Point& point, double us);

  const Options& options_;
  Communicator world_;
  Outputs& outputs_;
  Company company_ = company_of_the_ranks();
};

void OverlapTables::run(const Row& row) {
  Console console(world_.rank(), sizes_of(options_, row, world_.size()).size());
  Subject subject(options_, row, world_, console);
  const OverlapForm form = {.table = {.title = std::string(row.title),
                                      .algorithm = "auto",
                                      .ranks = world_.size(),
                                      .has_size = row.has_size,
                                      .full = options_.full,
                                      .compare = options_.compare.has_value(),
                                      .crowded = subject.crowded()},
                            .company = company_,
                            .compute = options_.compute,
                            .tests = options_.tests};
  console.say(overlap_heading(form));
  for (const std::size_t bytes : subject.sizes()) {
    console.show(fmt::format("{}: {} bytes", row.name, bytes));
    const Point point = measure(subject, bytes);
    console.say(overlap_line(form, point));
    outputs_.record(point);
  }
}

Point OverlapTables::measure(Subject& subject, std::size_t bytes) {
  const NonblockingRow& row = nonblocking_row(subject.row().name);
  const Call call = subject.call_of("auto", bytes);
  Point point = subject.point_of("auto", bytes);
  point.valid = validate(subject, point);
  Forms forms = {.call = call, .persistent = row.prepare(call), .chorus = around_chorus(row, call), .native = nullptr};
  if (options_.compare) forms.native = around_native(row, subject.call_of("native", bytes));
  measure_forms(subject, forms, point);
  Overlap& overlap = *point.overlap;
  overlap.hidden = measure_hidden(subject, forms.chorus, point, overlap.nonblocking_us.median);
  if (overlap.native) {
    overlap.native->hidden = measure_hidden(subject, forms.native, point, overlap.native->nonblocking_us.median);
  }
  return point;
}

bool OverlapTables::validate(Subject& subject, const Point& point) {
  const NonblockingRow& row = nonblocking_row(subject.row().name);
  const Call call = subject.call_of("auto", point.bytes);
  bool valid = subject.validate(call, subject.row().chorus, point, "chorus");
  valid &= subject.validate(
      call, [&](const Call& it) { row.start(it).wait(); }, point, "chorus, nonblocking");
  PersistentRequest persistent = row.prepare(call);
  const auto start_and_wait = [&](const Call&) {
    persistent.start();
    persistent.wait();
  };
  for (int twice = 0; twice < 2; ++twice) valid &= subject.validate(call, start_and_wait, point, "chorus, persistent");
  if (options_.compare) {
    const auto native = [&](const Call& it) { around_native(row, it)(nullptr, 0); };
    valid &= subject.validate(subject.call_of("native", point.bytes), native, point, "MPI, nonblocking");
  }
  return valid;
}

void OverlapTables::measure_forms(const Subject& subject, Forms& forms, Point& point) {
  std::vector<Block> sides = {repeated([&] { subject.row().chorus(forms.call); }),
                              repeated([&] { forms.chorus(nullptr, 0); }), repeated([&] {
                                forms.persistent.start();
                                forms.persistent.wait();
                              })};
  if (forms.native) sides.push_back(repeated([&] { forms.native(nullptr, 0); }));
  const double seconds = seconds_each * static_cast<double>(sides.size());
  const std::vector<Samples> samples = measure_interleaved(sides, subject.effort(point.bytes, seconds));
  subject.note(samples[0], point);
  Overlap overlap = {.nonblocking_us = quartiles(samples[1].us),
                     .nonblocking_ratio = ratio_of_medians(samples[1].us, samples[0].us),
                     .persistent_us = quartiles(samples[2].us),
                     .persistent_ratio = ratio_of_medians(samples[2].us, samples[0].us)};
  if (forms.native) overlap.native = NativeOverlap{.nonblocking_us = quartiles(samples[3].us)};
  point.overlap = overlap;
}

Hidden OverlapTables::measure_hidden(const Subject& subject, const Around& around, const Point& point, double us) {
  const Computation computation(options_.compute, us);
  const std::vector<Block> sides = {
      repeated([&] { around(nullptr, 0); }), repeated([&] { computation.run(1, nullptr); }),
      repeated([&] { around(&computation, 0); }), repeated([&] { around(&computation, options_.tests); })};
  const double seconds = seconds_each * static_cast<double>(sides.size());
  const std::vector<Samples> samples = measure_interleaved(sides, subject.effort(point.bytes, seconds));
  const auto& communication = samples[0].us;
  const auto& alone = samples[1].us;
  return {.compute_us = quartiles(alone).median,
          .untested = estimate_overlap(samples[2].us, alone, communication),
          .tested = estimate_overlap(samples[3].us, alone, communication)};
}

}  // namespace

void run_overlap(const Options& options, const Communicator& world, Outputs& outputs) {
  OverlapTables tables(options, world, outputs);
  for (const Row& row : options.rows) tables.run(row);
}

}  // namespace chorus::bench
