// SPDX-License-Identifier: Apache-2.0
#include "vendor.hpp"

#include "link_model.hpp"
#include "transport/native.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <thread>

namespace chorus::vendor {
namespace {

constexpr std::chrono::seconds patience(1);
constexpr std::chrono::microseconds moment(100);

class Completion final : public PolledEvent {
 public:
  Completion(Transport& transport, std::uint64_t ticket, Where where = Where::here()) noexcept
      : PolledEvent(where), transport_(transport), ticket_(ticket) {}

 private:
  bool ready() override { return transport_.native()->test(ticket_); }
  /// The buffers may end with the call, and MPI takes no collective back: it ends soon where all ranks have begun it,
  /// and is left to MPI where not.
  void abandon() noexcept override {
    const auto until = std::chrono::steady_clock::now() + patience;
    try {
      while (!ready()) {
        if (std::chrono::steady_clock::now() >= until) return transport_.leave_under_way();
        std::this_thread::sleep_for(moment);
      }
    } catch (const std::exception&) {  // MPI has given it up
    }
  }
  [[nodiscard]] std::string what() const override { return "waiting inside MPI's own collective"; }

  Transport& transport_;
  std::uint64_t ticket_;
};

}  // namespace

Native::Buffers buffers_of(const Arguments& arguments) noexcept {
  return {arguments.in, arguments.out, arguments.in_sections, arguments.out_sections};
}

bool applies(const Problem& problem) { return problem.native; }

Traffic traffic_of_fastest(const Problem& problem, std::initializer_list<std::string_view> names) {
  const LinkModel& links = links_of(problem);
  const std::span<const Algorithm* const> all = algorithms(problem.call.collective);
  Traffic best;
  double least_us = std::numeric_limits<double>::infinity();
  for (const std::string_view name : names) {
    const Algorithm& algorithm = **std::ranges::find(all, name, &Algorithm::name);
    if (!algorithm.applies(problem)) continue;
    const Traffic traffic = algorithm.traffic(problem);
    const double us = links.microseconds(traffic, problem);
    if (us >= least_us) continue;
    least_us = us;
    best = traffic;
  }
  return best;
}

Task<> run(Transport& transport, Arguments arguments) {
  Completion completion(transport, transport.native()->start(arguments.call, buffers_of(arguments)));
  co_await completion;
}

void now(Transport& transport, const Arguments& arguments) {
  transport.native()->run(arguments.call, buffers_of(arguments));
}

}  // namespace chorus::vendor
