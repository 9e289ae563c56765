// SPDX-License-Identifier: Apache-2.0
#include "transport/simulated.hpp"

#include "transport/deadlock_report.hpp"
#include "transport/simulated_scheduler.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <algorithm>

namespace chorus {
namespace {

double microseconds(VirtualTime time) { return std::chrono::duration<double, std::micro>(time).count(); }

void raise(SimulatedWorld::Counts& highest, const SimulatedWorld::Counts& counts) {
  highest.messages = std::max(highest.messages, counts.messages);
  highest.bytes = std::max(highest.bytes, counts.bytes);
}

std::string text_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

}  // namespace

SimulatedWorld::Report SimulatedWorld::Scheduler::run(const Body& body) {
  const VirtualTime began = now_;
  for (int me = 0; me < options_.ranks; ++me) {
    rank(me).counts = rank(me).inside = {};
    rank(me).operation.emplace(body(transport(me)));
  }
  for (int me = 0; me < options_.ranks; ++me) wake(me);
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    happen(event);
  }
  Report report;
  collect(report);
  for (Rank& rank : ranks_) {
    report.time = std::max(report.time, rank.clock - began);
    raise(report.busiest, rank.counts);
    raise(report.busiest_inside, rank.inside);
    rank.operation.reset();
  }
  return report;
}

void SimulatedWorld::Scheduler::collect(Report& report) {
  report.errors.resize(ranks_.size());
  std::map<int, std::string> places;
  bool waiting = false;
  for (int me = 0; me < options_.ranks; ++me) {
    Rank& rank = this->rank(me);
    std::exception_ptr& error = report.errors[static_cast<std::size_t>(me)];
    if (rank.operation->done()) {
      try {
        rank.operation->result();
      } catch (...) {
        error = std::current_exception();
        places[me] = "failed: " + text_of(error);
      }
    } else if (is_lost(rank)) {
      places[me] = fmt::format("lost at {} µs", microseconds(rank.lost_at));
      error = std::make_exception_ptr(Error(ErrorCode::peer_lost, fmt::format("rank {} {}", me, places[me])));
    } else {
      waiting = true;
      places[me] = rank.operation->waiting()->describe();
    }
  }
  if (waiting) {
    report.deadlock = fmt::format("nothing is left to happen at {} µs{}", microseconds(now_), group_by_place(places));
  }
  for (int me = 0; me < options_.ranks; ++me) {
    Rank& rank = this->rank(me);
    std::exception_ptr& error = report.errors[static_cast<std::size_t>(me)];
    report.strays += rank.mailbox.kept();
    if (rank.operation->done()) continue;
    if (!error) error = std::make_exception_ptr(Error(ErrorCode::timeout, report.deadlock));
    if (rank.operation->started()) rank.operation->cancel(error);
  }
  events_ = {};
}

void SimulatedWorld::Report::check() const {
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  if (strays > 0) throw Error(ErrorCode::transport, fmt::format("nobody has received {} messages", strays));
}

SimulatedWorld::SimulatedWorld(const Options& options) : scheduler_(std::make_unique<Scheduler>(options)) {}

SimulatedWorld::~SimulatedWorld() = default;

Transport& SimulatedWorld::transport(int rank) noexcept { return scheduler_->transport(rank); }

SimulatedWorld::Report SimulatedWorld::run(const Body& body) { return scheduler_->run(body); }

}  // namespace chorus
