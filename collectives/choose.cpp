// SPDX-License-Identifier: Apache-2.0
#include "choose.hpp"

#include "base/names.hpp"
#include "base/settings.hpp"
#include "vendor.hpp"
#include "why_not.hpp"
#include "wider_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace chorus {
namespace {

/// The candidate called `wish`; throws `code` where there is none.
const Candidate& named(const std::vector<Candidate>& candidates, const Problem& problem, std::string_view wish,
                       std::string_view source, ErrorCode code) {
  std::vector<std::string_view> names;
  for (const Candidate& candidate : candidates) {
    if (candidate.algorithm->name == wish) return candidate;
    names.push_back(candidate.algorithm->name);
  }
  throw Error(code, fmt::format("{} names no algorithm of {}: \"{}\"; {}", source, name(problem.call.collective), wish,
                                suggestion(wish, names)));
}

/// For a call that names `algorithm`, which does not apply.
Error cannot_carry_out(const Problem& problem, const Algorithm& algorithm, const Error* no_device_native) {
  std::string text = fmt::format("the algorithm {} cannot carry out {} on {} ranks", algorithm.name,
                                 describe(problem.call), problem.ranks);
  ErrorCode code = ErrorCode::not_supported;
  if (problem.call.memory == Memory::host) {
    const std::string why = why_not(algorithm, problem);
    text += why.empty()
                ? "; leave the choice to the library, or see chorus-info algorithms, which says what each is for"
                : fmt::format(": {}; leave the choice to the library", why);
  } else if (!algorithm.queues()) {
    text += "; leave the choice to the library, or see docs/gpu.md, which says what each algorithm carries";
  } else if (no_device_native == nullptr) {
    text += ": NCCL has no such collective for these elements and this operation; leave the choice to the library";
  } else {
    text += fmt::format(": {}; or leave the choice to the library", no_device_native->message());
    code = no_device_native->code();
  }
  return {code, text};
}

/// `problem` as `algorithm` solves it.
Problem carried(const Algorithm& algorithm, const Problem& problem) {
  return carries_wider(algorithm, problem) ? with_wider_elements(problem) : problem;
}

bool is_vendors(const Algorithm& algorithm) { return algorithm.name == vendor::native_name; }

/// What it takes beyond its traffic. Nothing is known of the vendor's that would make its rounds cheaper than ours, but
/// on one node where chorus has no shared memory: the vendor may have some.
double overhead_us(const Algorithm& algorithm, const Problem& problem, const LinkModel& links) {
  const bool alike = is_vendors(algorithm) && (problem.nodes > 1 || problem.shared);
  const double round_us = links.task_us + links.task_peer_us * problem.largest_node;
  if (alike) return round_us;
  return algorithm.now == nullptr ? round_us * std::max(1.0, algorithm.traffic(problem).shared.messages) : 0;
}

bool may_be_chosen(const Candidate& candidate) { return candidate.applies && !candidate.algorithm->only_named; }

double best_known(const Candidate& candidate, bool measured_only) {
  if (candidate.measured_us) return *candidate.measured_us;
  return measured_only ? std::numeric_limits<double>::infinity() : candidate.predicted_us;
}

void take(Choice& choice, const Candidate& candidate, std::string reason) {
  choice.algorithm = candidate.algorithm;
  choice.reason = std::move(reason);
}

}  // namespace

double predicted_us(const Algorithm& algorithm, const Problem& problem, const LinkModel& links) {
  Problem whole = problem;
  whole.links = &links;
  const Traffic traffic = algorithm.traffic(whole);
  return links.microseconds(problem.shared ? links.overlapped(traffic) : traffic, problem) +
         overhead_us(algorithm, problem, links);
}

const Algorithm& fastest(const Problem& problem, const LinkModel& links) {
  const auto time = [&](const Algorithm* algorithm) {
    const bool applies = suits(*algorithm, problem) && !algorithm->only_named;
    return std::pair(!applies, applies ? predicted_us(*algorithm, problem, links) : 0);  // an infinite one applies, too
  };
  return **std::ranges::min_element(algorithms(problem.call.collective), {}, time);
}

Choice choose(const Problem& problem, const Wishes& wishes, const Tuning& tuning) {
  Choice choice;
  const bool reproducible = problem.call.repeatability == Repeatability::reproducible;
  for (const Algorithm* algorithm : algorithms(problem.call.collective)) {
    Candidate candidate;
    candidate.algorithm = algorithm;
    const Problem own = carried(*algorithm, problem);
    candidate.applies = suits(*algorithm, own);
    if (candidate.applies) {
      candidate.predicted_us = predicted_us(*algorithm, own, tuning.links);
      if (!reproducible) candidate.measured_us = tuning.microseconds(problem, algorithm->name);  // of plain sums
    }
    choice.candidates.push_back(candidate);
  }
  if (!wishes.option.empty()) {
    const Candidate& wish =
        named(choice.candidates, problem, wishes.option, "option algorithm", ErrorCode::invalid_argument);
    if (!wish.applies) throw cannot_carry_out(problem, *wish.algorithm, wishes.no_device_native);
    take(choice, wish, "named by the call");
    return choice;
  }
  std::string passed_over;
  if (!wishes.environment.empty()) {
    const std::string variable = variable_of(problem.call.collective);
    const Candidate& wish = named(choice.candidates, problem, wishes.environment,
                                  "the environment variable " + variable, ErrorCode::invalid_environment);
    if (wish.applies) {
      take(choice, wish, "named by the environment");
      return choice;
    }
    choice.passed_over = true;
    passed_over = fmt::format("{}={} does not apply to this call; ", variable, wishes.environment);
  }
  const bool measured = std::ranges::any_of(
      choice.candidates, [](const auto& it) { return may_be_chosen(it) && it.measured_us.has_value(); });
  const auto time = [&](const Candidate& candidate) {
    return std::tuple(!may_be_chosen(candidate), best_known(candidate, measured),  // an infinite one applies, too
                      is_vendors(*candidate.algorithm));                           // ours, where both take as long
  };
  take(choice, *std::ranges::min_element(choice.candidates, {}, time),
       passed_over + (measured ? "fastest as measured in the tuning file" : "fastest as predicted by the model"));
  return choice;
}

}  // namespace chorus
