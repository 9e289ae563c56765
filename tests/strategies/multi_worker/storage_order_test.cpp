// SPDX-License-Identifier: Apache-2.0
// Matrices that lie in memory row by row on one worker and column by column on another.
#include "multi_worker/multi_worker.hpp"

#include <chorus/interop/eigen_leaf.hpp>
#include <chorus/strategies/variable.hpp>

#include <string>
#include <tuple>

namespace chorus::test {
namespace {

using ColumnMajor = Eigen::MatrixXf;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class StorageOrder : public MultiWorker {
 protected:
  void SetUp() override {
    if (job_size() == 1) GTEST_SKIP() << "needs two workers";
  }
  /// `call` with a column-major zero, on the last worker with a row-major one.
  template <class Call>
  void expect_refused(const std::string& text, const Call& call) {
    expect_error(ErrorCode::mismatch, text, [&] {
      if (job_rank() == job_size() - 1) {
        call(RowMajor(RowMajor::Zero(2, 3)));
      } else {
        call(ColumnMajor(ColumnMajor::Zero(2, 3)));
      }
    });
    expect_works(several_);
  }

  MultiWorkerMirroredStrategy several_ = strategy();
  std::string last_ = std::to_string(job_size() - 1);
};

TEST_P(StorageOrder, OfAVariableIsTheSameOnAllWorkers) {
  const auto scope = several_.scope();
  expect_refused("worker 0 makes \"v\" of float32 (2, 3), column-major, worker " + last_ +
                     " makes \"v\" of float32 (2, 3), row-major",
                 [](const auto& zero) { Variable(zero, {.name = "v"}); });
}

TEST_P(StorageOrder, OfWhatIsGatheredIsTheSameOnAllWorkers) {
  expect_refused("worker 0 gives column-major tensors, worker " + last_ + " row-major tensors",
                 [&](const auto& zero) { std::ignore = several_.gather(several_.run([&] { return zero; }), 0); });
}

INSTANTIATE_TEST_SUITE_P(ReplicasOfEachWorker, StorageOrder, testing::Values(1, 2));

}  // namespace
}  // namespace chorus::test
