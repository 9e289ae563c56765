// SPDX-License-Identifier: Apache-2.0
// What the public functions take beside numbers and ReduceOps, and the ways to wait for several of them.

#include "mpi/job.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace chorus::test {
namespace {

/// A matrix of two rows; products of matrices depend on their order.
struct Matrix {
  std::array<std::array<unsigned, 2>, 2> rows;
  friend bool operator==(const Matrix&, const Matrix&) = default;
};

Matrix operator*(const Matrix& left, const Matrix& right) {
  Matrix product{};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      product.rows[i][j] = left.rows[i][0] * right.rows[0][j] + left.rows[i][1] * right.rows[1][j];
    }
  }
  return product;
}

constexpr auto multiply = [](const Matrix& left, const Matrix& right) { return left * right; };

Matrix matrix_of(int rank, std::size_t index) {
  const auto r = static_cast<unsigned>(rank);
  return {{{{r + 1, static_cast<unsigned>(index)}, {3, 2 * r + 1}}}};
}

Matrix product_of_all(int ranks, std::size_t index) {
  Matrix product = matrix_of(0, index);
  for (int rank = 1; rank < ranks; ++rank) product = product * matrix_of(rank, index);
  return product;
}

class Types : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  /// This rank's matrices.
  [[nodiscard]] std::vector<Matrix> matrices(std::size_t count) const {
    std::vector<Matrix> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(matrix_of(comm_.rank(), i));
    return result;
  }
  void expect_products(std::span<const Matrix> result, std::size_t first = 0) const {
    for (std::size_t i = 0; i < result.size(); ++i) {
      ASSERT_EQ(result[i], product_of_all(comm_.size(), first + i)) << "element " << i;
    }
  }

 private:
  // The first `GetParam()` ranks of the job, and the others.
  OwnedComm mpi_comm_{job_rank() < GetParam() ? 0 : 1, job_rank()};
  Communicator comm_ = from_mpi(mpi_comm_.get());
};

TEST_P(Types, AnyTriviallyCopyableTypeMoves) {
  std::vector<Matrix> data(1000);
  if (comm().rank() == 0) data = matrices(1000);
  bcast(comm(), data, 0);
  for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], matrix_of(0, i));

  std::vector<Matrix> all(static_cast<std::size_t>(comm().size()) * 3);
  allgather(comm(), matrices(3), all);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], matrix_of(static_cast<int>(i / 3), i % 3));
}

TEST_P(Types, FunctionsJoinInTheOrderOfTheRanks) {
  for (const std::size_t count : {0, 1, 2, 500, 20'000}) {
    std::vector<Matrix> result(count);
    allreduce(comm(), matrices(count), result, multiply);
    expect_products(result);
    for (int root = 0; root < comm().size(); ++root) {
      std::vector<Matrix> inout = matrices(count);
      reduce(comm(), inout, multiply, root);
      if (comm().rank() == root) expect_products(inout);
    }
    std::vector<Matrix> block(count);
    reduce_scatter_block(comm(), matrices(count * static_cast<std::size_t>(comm().size())), block, multiply);
    expect_products(block, count * static_cast<std::size_t>(comm().rank()));
  }
}

TEST_P(Types, AFunctionLivesAsLongAsItsRequest) {
  std::vector<int> numbers(3000, comm().rank() + 1);
  std::vector<Request> requests;
  {
    const std::vector<int> bias = {1'000'000};
    requests.push_back(
        iallreduce(comm(), numbers, commutative([bias](int left, int right) { return (left + right) % bias[0]; })));
  }
  wait_all(requests);
  EXPECT_EQ(numbers, std::vector<int>(3000, comm().size() * (comm().size() + 1) / 2));
}

int larger(const int& left, const int& right) { return std::max(left, right); }

TEST_P(Types, AFunctionOfTheProgramIsOne) {
  std::vector<int> numbers(3000, comm().rank());
  iallreduce(comm(), numbers, larger).wait();
  EXPECT_EQ(numbers, std::vector<int>(3000, comm().size() - 1));
  EXPECT_EQ(allreduce(comm(), comm().rank(), larger), comm().size() - 1);
}

TEST_P(Types, MinlocAndMaxlocSayWhere) {
  const int me = comm().rank();
  const ValueIndex<double> mine{.value = me % 2 == 0 ? 1.5 : 2.5, .index = me};
  const int first_odd = comm().size() > 1 ? 1 : 0;
  EXPECT_EQ(allreduce(comm(), mine, minloc), (ValueIndex<double>{1.5, 0}));
  EXPECT_EQ(allreduce(comm(), mine, maxloc), (ValueIndex<double>{first_odd == 1 ? 2.5 : 1.5, first_odd}));
}

TEST_P(Types, ComplexNumbersAreAddedMultipliedAndAveraged) {
  using Complex = std::complex<double>;
  const int ranks = comm().size();
  std::vector<Complex> sum(100, Complex(1, comm().rank()));
  allreduce(comm(), sum, ReduceOp::sum);
  EXPECT_EQ(sum, std::vector<Complex>(100, Complex(ranks, ranks * (ranks - 1) / 2)));

  Complex power(1);
  for (int rank = 0; rank < ranks; ++rank) power *= Complex(0, 1);
  EXPECT_EQ(allreduce(comm(), Complex(0, 1), ReduceOp::product), power);
  EXPECT_EQ(allreduce(comm(), std::complex<float>(2, -4), ReduceOp::average), (std::complex<float>(2, -4)));
}

TEST_P(Types, APersistentRequestStartsAgainAndAgain) {
  std::vector<long> in(700);
  std::vector<long> out(700);
  PersistentRequest request = allreduce_init(comm(), in, out, ReduceOp::sum);
  PersistentRequest gate = barrier_init(comm());
  EXPECT_TRUE(request.test()) << "nothing was started";
  for (long repetition = 0; repetition < 20; ++repetition) {
    std::iota(in.begin(), in.end(), repetition * comm().rank());
    request.start();
    gate.start();
    EXPECT_TRUE(request.pending());
    expect_error(outcome_of([&] { request.start(); }), ErrorCode::invalid_argument,
                 {"PersistentRequest::start of allreduce of 700 int64 by sum on rank", "under way", "wait"});
    gate.wait();
    request.wait();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const long ranks = comm().size();
      ASSERT_EQ(out[i], ranks * static_cast<long>(i) + repetition * ranks * (ranks - 1) / 2);
    }
  }
}

TEST_P(Types, PersistentRequestsWithAndWithoutARoot) {
  const int me = comm().rank();
  const auto ranks = static_cast<std::size_t>(comm().size());
  std::vector<int> mine(50);
  std::vector<int> gathered(ranks * mine.size());
  std::vector<int> dealt(mine.size());
  std::vector<int> before(mine.size());
  PersistentRequest gathers = gather_init(comm(), mine, gathered, 0);
  PersistentRequest scatters = scatter_init(comm(), gathered, dealt, 0);
  PersistentRequest exchanges = alltoall_init(comm(), gathered);
  PersistentRequest scans = scan_init(comm(), mine, ReduceOp::sum);
  PersistentRequest exscans = exscan_init(comm(), mine, before, ReduceOp::max);
  for (int repetition = 0; repetition < 5; ++repetition) {
    std::ranges::fill(mine, repetition + me);
    for (PersistentRequest* request : {&gathers, &scatters, &exscans, &scans, &exchanges}) {
      request->start();
      request->wait();
    }
    EXPECT_EQ(dealt, std::vector<int>(mine.size(), repetition + me));
    EXPECT_EQ(mine, std::vector<int>(mine.size(), (me + 1) * repetition + me * (me + 1) / 2));
    if (me > 0) {
      EXPECT_EQ(before, std::vector<int>(mine.size(), repetition + me - 1));
    }
    EXPECT_EQ(gathered[0], repetition + me);
  }
}

TEST_P(Types, WaitAnyGivesEachRequestOnce) {
  std::vector<std::vector<int>> data(8, std::vector<int>(2000, 1));
  std::vector<Request> requests(data.size() + 1);  // the last one is complete from the beginning
  for (std::size_t i = 0; i < data.size(); ++i) requests[i] = iallreduce(comm(), data[i], ReduceOp::sum);
  std::vector<bool> seen(data.size());
  while (const std::optional<std::size_t> complete = wait_any(requests)) {
    ASSERT_LT(*complete, data.size());
    EXPECT_FALSE(seen[*complete]);
    EXPECT_EQ(data[*complete], std::vector<int>(2000, comm().size()));
    seen[*complete] = true;
  }
  EXPECT_EQ(seen, std::vector<bool>(data.size(), true));
}

TEST_P(Types, SeveralPersistentRequestsStartAndEndTogether) {
  std::vector<std::vector<int>> data(5, std::vector<int>(2000, 1));
  std::vector<PersistentRequest> requests;
  for (std::vector<int>& vector : data) requests.push_back(allreduce_init(comm(), vector, ReduceOp::sum));
  EXPECT_FALSE(wait_any(requests)) << "none is started";
  wait_all(requests);
  start_all(requests);
  wait_all(requests);
  EXPECT_EQ(data, std::vector(data.size(), std::vector<int>(2000, comm().size())));

  start_all(requests);
  std::vector<bool> seen(data.size());
  while (const std::optional<std::size_t> complete = wait_any(requests)) {
    EXPECT_FALSE(seen[*complete]);
    EXPECT_FALSE(requests[*complete].pending());
    EXPECT_EQ(data[*complete], std::vector<int>(2000, comm().size() * comm().size()));
    seen[*complete] = true;
  }
  EXPECT_EQ(seen, std::vector<bool>(data.size(), true));
}

TEST_P(Types, SingleValues) {
  const int me = comm().rank();
  const int ranks = comm().size();
  const int root = ranks - 1;
  double value = me == root ? 7.5 : 0;
  bcast(comm(), value, root);
  EXPECT_EQ(value, 7.5);
  Matrix matrix = matrix_of(me, 3);
  bcast(comm(), matrix, 0);
  EXPECT_EQ(matrix, matrix_of(0, 3));

  EXPECT_EQ(reduce(comm(), me + 1, ReduceOp::sum, root), me == root ? ranks * (ranks + 1) / 2 : me + 1);
  EXPECT_EQ(scan(comm(), me + 1, ReduceOp::sum), (me + 1) * (me + 2) / 2);
  EXPECT_EQ(exscan(comm(), me + 1, ReduceOp::sum), me == 0 ? 1 : me * (me + 1) / 2);
  EXPECT_EQ(reduce(comm(), matrix_of(me, 1), multiply, 0), me == 0 ? product_of_all(ranks, 1) : matrix_of(me, 1));

  std::vector<int> ranks_in_order(static_cast<std::size_t>(ranks));
  std::iota(ranks_in_order.begin(), ranks_in_order.end(), 0);
  std::vector<int> all(ranks_in_order.size());
  allgather(comm(), me, all);
  EXPECT_EQ(all, ranks_in_order);
  std::vector<int> on_root(me == root ? ranks_in_order.size() : 0);
  gather(comm(), me, on_root, root);
  EXPECT_EQ(on_root, me == root ? ranks_in_order : std::vector<int>());
  int mine = -1;
  scatter(comm(), on_root, mine, root);
  EXPECT_EQ(mine, me);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Types, testing::Values(1, 2, 3, 5, 8));

}  // namespace
}  // namespace chorus::test
