// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"
#include "link_model.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace chorus {

/// Answers of the model to the problems that it was asked last: programs repeat their calls, and to ask anew takes
/// longer than short messages do. For one thread. What counts is the problem and the numbers of the model, so that
/// every rank has the answer that it would find.
template <class Answer>
class Remembered {
 public:
  /// `find()`, or what it gave for the same.
  template <class Find>
  const Answer& of(const Problem& problem, const Find& find) {
    const LinkModel& links = links_of(problem);
    const auto ranks = static_cast<std::size_t>(problem.ranks);
    Entry& entry = entries_[(kind_hash(problem.call) + ranks) % entries_.size()];
    if (!entry.answer || !solved_alike(entry.problem, problem) || entry.links != links) {
      const Answer answer = find();  // which may ask for others
      entry = {problem, links, answer};
    }
    return *entry.answer;
  }

 private:
  struct Entry {
    Problem problem;
    LinkModel links;
    std::optional<Answer> answer;
  };
  /// Calls of the same kind on the same ranks, by the same model.
  static bool solved_alike(Problem known, const Problem& problem) noexcept {
    if (!same_kind(known.call, problem.call)) return false;
    known.call = problem.call;
    known.links = problem.links;
    return known == problem;
  }
  std::vector<Entry> entries_ = std::vector<Entry>(64);  // elsewhere than in the memory of the thread, which is scarce
};

}  // namespace chorus
