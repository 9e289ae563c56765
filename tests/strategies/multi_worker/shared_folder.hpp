// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpi/job.hpp"

#include <chorus/barrier.hpp>
#include <chorus/bcast.hpp>
#include <chorus/communicator.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace chorus::test {

/// A folder that rank 0 makes, and removes when all have come to the end of the test.
class SharedFolder {
 public:
  SharedFolder() {
    std::string pattern = (std::filesystem::path(testing::TempDir()) / "chorus_workers_XXXXXX").string();
    if (job_rank() == 0 && mkdtemp(pattern.data()) == nullptr) std::abort();
    bcast(world_, pattern, 0);
    path_ = pattern;
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  ~SharedFolder() {
    barrier(world_);
    if (job_rank() == 0) std::filesystem::remove_all(path_);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  Communicator world_ = Communicator::world();
  std::filesystem::path path_;
};

}  // namespace chorus::test
