// SPDX-License-Identifier: Apache-2.0
#include "mpi/job.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

namespace chorus::test {

int job_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int job_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

OwnedComm::OwnedComm(int color, int key) { MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm_); }

OwnedComm::~OwnedComm() { MPI_Comm_free(&comm_); }

ScopedVariable::ScopedVariable(std::string name, const std::string& value) : name_(std::move(name)) {
  if (const char* before = std::getenv(name_.c_str())) before_ = before;
  setenv(name_.c_str(), value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  if (before_) {
    setenv(name_.c_str(), before_->c_str(), 1);
  } else {
    unsetenv(name_.c_str());
  }
}

void expect_error(const Outcome& outcome, ErrorCode code, const std::vector<std::string>& words) {
  if (!outcome.code) {
    ADD_FAILURE() << "no error; expected " << name(code);
    return;
  }
  EXPECT_STREQ(name(*outcome.code), name(code)) << outcome.text;
  for (const std::string& word : words) {
    EXPECT_NE(outcome.text.find(word), std::string::npos) << '"' << word << "\" is not in: " << outcome.text;
  }
}

}  // namespace chorus::test
