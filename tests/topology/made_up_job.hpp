// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "survey.hpp"

namespace chorus::info {

/// A job for tests: ranks are added one by one and then surveyed as if they had been gathered.
class MadeUpJob {
 public:
  /// Every host from here on is such a machine.
  void machine(const Topology& topology) { topologies_.push_back(topology); }

  /// The next rank: on `host`, bound to the PUs from `first` to `last`.
  void rank(const std::string& host, int first, int last) {
    PuSet pus;
    for (int pu = first; pu <= last; ++pu) pus.set(static_cast<std::size_t>(pu));
    RankRecord record;
    record.rank = static_cast<int>(records_.size());
    record.pid = 4000 + record.rank;
    host.copy(record.host.data(), record.host.size() - 1);
    record.node = std::hash<std::string>()(host);
    record.machine = digest(topologies_.back());
    record.binding = topologies_.back().place(pus);
    records_.push_back(record);
  }

  /// The last rank takes this GPU.
  void gpu(const GpuRecord& record) { records_.back().gpu = record; }

  [[nodiscard]] Survey survey() const { return make_survey(records_, topologies_); }

 private:
  std::vector<Topology> topologies_;
  std::vector<RankRecord> records_;
};

}  // namespace chorus::info
