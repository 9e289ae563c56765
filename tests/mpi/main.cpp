// SPDX-License-Identifier: Apache-2.0
// Runs the tests on every rank of a job. Rank 0 reports as usual, the others report what fails; all exit with 1 where
// any rank has failed, with 77 (for meson: skipped) where every test was skipped. A test that takes longer than a
// minute and a half names itself and ends the job.

#include "mpi/job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace chorus::test {
namespace {

constexpr int skipped = 77;
std::array<char, 256> alarm_text;

void end_the_job(int /*signal*/) {
  static_cast<void>(!write(STDERR_FILENO, alarm_text.data(), std::strlen(alarm_text.data())));
  _exit(3);
}

class Reporter final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    const std::string text =
        fmt::format("rank {} hangs in {}.{}\n", job_rank(), test.test_suite_name(), test.name()).substr(0, 255);
    alarm_text.fill('\0');
    text.copy(alarm_text.data(), text.size());
    begin_the_time_again();
    meet_job();
  }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed() || job_rank() == 0) return;
    fmt::print(stderr, "rank {}: {}:{}: {}\n", job_rank(), result.file_name() == nullptr ? "" : result.file_name(),
               result.line_number(), result.message());
  }

  void OnTestEnd(const testing::TestInfo& /*test*/) override { alarm(0); }
};

}  // namespace
}  // namespace chorus::test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
#ifdef MPICH_VERSION  // gives a message that is too long to the handler of this communicator, wherever it comes from
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#endif
  testing::InitGoogleTest(&argc, argv);
  std::signal(SIGALRM, chorus::test::end_the_job);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (chorus::test::job_rank() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new chorus::test::Reporter);
  const int failed_here = RUN_ALL_TESTS();
  int failed = 0;
  MPI_Allreduce(&failed_here, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const bool all_skipped = tests.test_to_run_count() > 0 && tests.skipped_test_count() == tests.test_to_run_count();
  return all_skipped ? chorus::test::skipped : failed;
}
