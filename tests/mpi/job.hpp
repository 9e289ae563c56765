// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>

#include <mpi.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

// What tests need that run on every rank of an MPI job. Every rank runs the same tests in the same order.
namespace chorus::test {

[[nodiscard]] int job_rank();
[[nodiscard]] int job_size();

/// An MPI communicator that frees itself; collective over it.
class OwnedComm {
 public:
  /// Those of the job with equal `color`, in the order of `key`.
  OwnedComm(int color, int key);
  OwnedComm(const OwnedComm&) = delete;
  OwnedComm& operator=(const OwnedComm&) = delete;
  ~OwnedComm();
  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Sets an environment variable of this process until it is destroyed.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::string& value);
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable();

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// How a call ended: `code` is empty where it threw nothing.
struct Outcome {
  std::optional<ErrorCode> code;
  std::string text;
  std::chrono::duration<double> took{};
};
template <class Function>
[[nodiscard]] Outcome outcome_of(Function&& function) {
  const auto began = std::chrono::steady_clock::now();
  Outcome outcome;
  try {
    function();
  } catch (const Error& error) {
    outcome.code = error.code();
    outcome.text = error.what();
  }
  outcome.took = std::chrono::steady_clock::now() - began;
  return outcome;
}

/// Fails the test unless `outcome` is an Error with `code` whose text has all of `words`.
void expect_error(const Outcome& outcome, ErrorCode code, const std::vector<std::string>& words);

}  // namespace chorus::test
