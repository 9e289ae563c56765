// SPDX-License-Identifier: Apache-2.0
// The collectives whose blocks differ in length, as programs call them: by every algorithm, blocking, nonblocking and
// persistent, in place and not.

#include "algorithm.hpp"
#include "base/names.hpp"
#include "carry_out.hpp"
#include "mpi/job.hpp"
#include "transport/communicator_state.hpp"

#include <chorus/chorus.hpp>
#include <chorus/interop/mpi.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

namespace chorus::test {
namespace {

using Numbers = std::vector<std::int32_t>;
using Counts = std::vector<std::size_t>;

constexpr std::size_t longest = 40'000;  // elements: more than a slot

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

/// How many elements go from rank to rank; some none, some many.
std::size_t count(int from, int to) {
  constexpr std::size_t counts[] = {3, 0, 100, longest, 1};
  return counts[index(from * 3 + to) % 5];
}
std::int32_t element(int from, int to, std::size_t i) { return from * 1'000'000 + to * 100'000 + static_cast<int>(i); }

Numbers block(int from, int to, std::size_t length) {
  Numbers numbers(length);
  for (std::size_t i = 0; i < length; ++i) numbers[i] = element(from, to, i);
  return numbers;
}
void append(Numbers& numbers, const Numbers& more) { numbers.insert(numbers.end(), more.begin(), more.end()); }

/// The parameter: how many of the job's first ranks take part.
class Sections : public testing::TestWithParam<int> {
 protected:
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] int ranks() const { return comm_.size(); }
  [[nodiscard]] int me() const { return comm_.rank(); }
  /// Of each rank to or from `other`.
  [[nodiscard]] Counts counts_to(int other) const {
    return counts([other](int rank) { return count(rank, other); });
  }
  [[nodiscard]] Counts counts_from(int other) const {
    return counts([other](int rank) { return count(other, rank); });
  }

  /// Runs `body` with the options of the library's choice and of every algorithm that applies to `count` elements.
  template <class Body>
  void by_every_algorithm(Collective collective, const Body& body, std::size_t count = 0) {
    barrier(comm_);
    body(CollectiveOptions{});
    for (const Algorithm* algorithm : algorithms(collective)) {
      const Call call{.collective = collective, .type = DataType::int32, .count = count};
      if (!algorithm->applies(problem_of(call, comm_.state().transport()))) continue;
      SCOPED_TRACE(algorithm->name);
      body(CollectiveOptions{.algorithm = algorithm->name});
    }
  }

 private:
  template <class Count>
  [[nodiscard]] Counts counts(const Count& of) const {
    Counts result;
    for (int rank = 0; rank < ranks(); ++rank) result.push_back(of(rank));
    return result;
  }

  OwnedComm mpi_comm_{job_rank() < GetParam() ? 0 : 1, job_rank()};
  Communicator comm_ = from_mpi(mpi_comm_.get());
};

TEST_P(Sections, AllgathervGivesEverybodyEveryBlock) {
  const Counts counts = counts_to(0);
  Numbers expected;
  for (int rank = 0; rank < ranks(); ++rank) append(expected, block(rank, 0, counts[index(rank)]));
  const Numbers in = block(me(), 0, counts[index(me())]);
  by_every_algorithm(Collective::allgatherv, [&](const CollectiveOptions& options) {
    Numbers out(expected.size());
    allgatherv(comm(), in, out, counts, options);
    EXPECT_EQ(out, expected);
    Numbers inout(expected.size());
    const std::size_t begin = std::accumulate(counts.begin(), counts.begin() + me(), std::size_t{0});
    std::ranges::copy(in, inout.begin() + static_cast<std::ptrdiff_t>(begin));
    iallgatherv(comm(), inout, counts, options).wait();
    EXPECT_EQ(inout, expected);
  });
}

TEST_P(Sections, GathervAndScattervAreEachOthersReverse) {
  for (const int root : {0, ranks() - 1}) {
    const Counts counts = counts_to(root);
    Numbers all;
    for (int rank = 0; rank < ranks(); ++rank) append(all, block(rank, root, counts[index(rank)]));
    const Numbers mine = block(me(), root, counts[index(me())]);
    by_every_algorithm(Collective::gatherv, [&](const CollectiveOptions& options) {
      Numbers out(me() == root ? all.size() : 0);
      gatherv(comm(), mine, out, counts, root, options);
      EXPECT_EQ(out, me() == root ? all : Numbers());
    });
    by_every_algorithm(Collective::scatterv, [&](const CollectiveOptions& options) {
      Numbers out(mine.size());
      scatterv(comm(), me() == root ? all : Numbers(), counts, out, root, options);
      EXPECT_EQ(out, mine);
      Numbers inout = me() == root ? all : Numbers(mine.size());
      iscatterv(comm(), inout, counts, root, options).wait();
      EXPECT_EQ(inout, me() == root ? all : mine);
    });
  }
}

TEST_P(Sections, GathervTakesDisplacementsWithGaps) {
  const Counts counts(index(ranks()), 2);
  Counts displacements;
  for (int rank = 0; rank < ranks(); ++rank) displacements.push_back(3 * index(ranks() - 1 - rank));
  Numbers out(3 * index(ranks()), -1);
  gatherv(comm(), block(me(), 0, 2), out, {counts, displacements}, 0);
  for (int rank = 0; rank < ranks() && me() == 0; ++rank) {
    const auto place = displacements[index(rank)];
    EXPECT_EQ(
        Numbers(out.begin() + static_cast<std::ptrdiff_t>(place), out.begin() + static_cast<std::ptrdiff_t>(place) + 3),
        (Numbers{element(rank, 0, 0), element(rank, 0, 1), -1}));
  }
}

TEST_P(Sections, AlltoallvGivesEverybodyABlockFromEverybody) {
  const Counts in_counts = counts_from(me());
  const Counts out_counts = counts_to(me());
  Numbers in;
  Numbers expected;
  for (int rank = 0; rank < ranks(); ++rank) append(in, block(me(), rank, in_counts[index(rank)]));
  for (int rank = 0; rank < ranks(); ++rank) append(expected, block(rank, me(), out_counts[index(rank)]));
  by_every_algorithm(Collective::alltoallv, [&](const CollectiveOptions& options) {
    Numbers out(expected.size());
    alltoallv(comm(), in, in_counts, out, out_counts, options);
    EXPECT_EQ(out, expected);
    PersistentRequest request = alltoallv_init(comm(), in, in_counts, out, out_counts, options);
    for (int repetition = 0; repetition < 2; ++repetition) {
      out.assign(out.size(), -1);
      request.start();
      request.wait();
      EXPECT_EQ(out, expected);
    }
    Numbers inout;
    const Counts even(index(ranks()), 1000);
    for (int rank = 0; rank < ranks(); ++rank) append(inout, block(me(), rank, 1000));
    alltoallv(comm(), inout, even, options);
    for (int rank = 0; rank < ranks(); ++rank) {
      ASSERT_EQ(inout[index(rank) * 1000 + 999], element(rank, me(), 999)) << "in place, from rank " << rank;
    }
  });
}

TEST_P(Sections, NonblockingAlltoallvInPlace) {
  Counts counts;  // of two ranks equal both ways
  for (int rank = 0; rank < ranks(); ++rank) counts.push_back(index((me() + rank) % 3) * 1500);
  Numbers expected;
  for (int rank = 0; rank < ranks(); ++rank) append(expected, block(rank, me(), counts[index(rank)]));
  by_every_algorithm(Collective::alltoallv, [&](const CollectiveOptions& options) {
    Numbers inout;
    for (int rank = 0; rank < ranks(); ++rank) append(inout, block(me(), rank, counts[index(rank)]));
    ialltoallv(comm(), inout, counts, options).wait();
    EXPECT_EQ(inout, expected) << options.algorithm;
  });
}

/// Vectors of doubles apart from each other, one for each rank.
struct PlacedVectors {
  std::vector<std::vector<double>> vectors;
  void add(std::size_t count, double value) { vectors.emplace_back(count, value); }
  [[nodiscard]] std::vector<std::span<const std::byte>> bytes() const {
    std::vector<std::span<const std::byte>> blocks;
    for (const std::vector<double>& vector : vectors) blocks.push_back(std::as_bytes(std::span(vector)));
    return blocks;
  }
  [[nodiscard]] std::vector<std::span<std::byte>> writable_bytes() {
    std::vector<std::span<std::byte>> blocks;
    for (std::vector<double>& vector : vectors) blocks.push_back(std::as_writable_bytes(std::span(vector)));
    return blocks;
  }
};

/// To MPI all ranks exchange in place, or none.
TEST_P(Sections, AlltoallMayBeInPlaceOnSomeRanksAlone) {
  for (const std::size_t length : {std::size_t{1}, std::size_t{5000}}) {
    Numbers given;
    Numbers expected;
    for (int rank = 0; rank < ranks(); ++rank) {
      append(given, block(me(), rank, length));
      append(expected, block(rank, me(), length));
    }
    for (const bool blocking : {true, false}) {
      Numbers got = me() % 2 == 0 ? given : Numbers(given.size());
      if (blocking && me() % 2 == 0) {
        alltoall(comm(), got, {.algorithm = "native"});
      } else if (blocking) {
        alltoall(comm(), given, got, {.algorithm = "native"});
      } else {
        (me() % 2 == 0 ? ialltoall(comm(), got, {.algorithm = "native"})
                       : ialltoall(comm(), given, got, {.algorithm = "native"}))
            .wait();
      }
      EXPECT_EQ(got, expected) << length << (blocking ? " blocking" : " nonblocking");
    }
  }
}

TEST_P(Sections, AlltoallwTakesBlocksAnywhere) {
  PlacedVectors in;
  PlacedVectors expected;
  for (int rank = 0; rank < ranks(); ++rank) {
    in.add(count(me(), rank), me() + 10.0 * rank);
    expected.add(count(rank, me()), rank + 10.0 * me());
  }
  by_every_algorithm(Collective::alltoallw, [&](const CollectiveOptions& options) {
    PlacedVectors out;
    for (int rank = 0; rank < ranks(); ++rank) out.add(count(rank, me()), -1);
    const auto in_blocks = in.bytes();
    const auto out_blocks = out.writable_bytes();
    alltoallw(comm(), in_blocks, out_blocks, options);
    EXPECT_EQ(out.vectors, expected.vectors);
    for (std::vector<double>& vector : out.vectors) std::ranges::fill(vector, -1);
    ialltoallw(comm(), in_blocks, out_blocks, options).wait();
    EXPECT_EQ(out.vectors, expected.vectors);
    PersistentRequest request = alltoallw_init(comm(), in_blocks, out_blocks, options);
    for (int repetition = 0; repetition < 2; ++repetition) {
      for (std::vector<double>& vector : out.vectors) std::ranges::fill(vector, -1);
      request.start();
      request.wait();
      EXPECT_EQ(out.vectors, expected.vectors);
    }
  });
}

TEST_P(Sections, AlltoallwInPlaceReplacesWhatGoes) {
  by_every_algorithm(Collective::alltoallw, [&](const CollectiveOptions& options) {
    PlacedVectors inout;
    for (int rank = 0; rank < ranks(); ++rank) inout.add(1000, me() + 10.0 * rank);
    alltoallw(comm(), inout.writable_bytes(), options);
    for (int rank = 0; rank < ranks(); ++rank) {
      EXPECT_EQ(inout.vectors[index(rank)], std::vector<double>(1000, rank + 10.0 * me()));
    }
    ialltoallw(comm(), inout.writable_bytes(), options).wait();
    for (int rank = 0; rank < ranks(); ++rank) {
      EXPECT_EQ(inout.vectors[index(rank)], std::vector<double>(1000, me() + 10.0 * rank));
    }
  });
}

TEST_P(Sections, AlltoallwRefusesBlocksThatOverlap) {
  std::vector<double> data(index(2 * ranks() + 1));
  std::vector<std::span<const std::byte>> in;
  std::vector<std::span<std::byte>> out;
  for (int rank = 0; rank < ranks(); ++rank) {
    in.push_back(std::as_bytes(std::span(data).subspan(index(rank), 1)));
    out.push_back(std::as_writable_bytes(std::span(data).subspan(index(ranks() + rank), 1)));
  }
  const auto text_of = [&] {
    try {
      alltoallw(comm(), in, out);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.message();
    }
    return std::string();
  };
  EXPECT_EQ(text_of(), "");
  in[0] = out[0];
  EXPECT_NE(text_of().find("a block of argument in overlaps one of out"), std::string::npos);
  in[0] = std::as_bytes(std::span(data).subspan(0, 1));
  if (ranks() == 1) return;
  out[1] = out[0];
  EXPECT_NE(text_of().find("two blocks of argument out overlap"), std::string::npos);
  EXPECT_NE(text_of().find("alltoallw on rank"), std::string::npos);
}

TEST_P(Sections, ReduceScatterGivesEachRankItsBlockOfTheReduction) {
  Counts counts = counts_to(1);
  for (std::size_t& count : counts) count *= 4;  // so long that MPICH exchanges them by pairs
  const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const std::size_t begin = std::accumulate(counts.begin(), counts.begin() + me(), std::size_t{0});
  Numbers in(all);
  std::iota(in.begin(), in.end(), me());
  Numbers expected(counts[index(me())]);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = ranks() * static_cast<int>(begin + i) + ranks() * (ranks() - 1) / 2;
  }
  by_every_algorithm(
      Collective::reduce_scatter,
      [&](const CollectiveOptions& options) {
        Numbers out(expected.size());
        reduce_scatter(comm(), in, out, counts, ReduceOp::sum, options);
        EXPECT_EQ(out, expected);
        for (const bool later : {false, true}) {
          Numbers inout = in;
          if (later) ireduce_scatter(comm(), inout, counts, ReduceOp::sum, options).wait();
          if (!later) reduce_scatter(comm(), inout, counts, ReduceOp::sum, options);
          inout.resize(expected.size());
          EXPECT_EQ(inout, expected);
        }
      },
      all);
}

TEST_P(Sections, WrongLayoutsAreRefusedBeforeAnythingIsSent) {
  Numbers in(2);
  Numbers out(2 * index(ranks()));
  const auto refused = [&](const Counts& counts, const Counts& displacements, const char* why) {
    expect_error(outcome_of([&] {
                   allgatherv(comm(), in, out, {counts, displacements});
                 }),
                 ErrorCode::invalid_argument, {"allgatherv", "argument blocks", "rank", why});
  };
  refused(Counts(index(ranks()) + 1, 2), {}, "one for each");
  refused(Counts(index(ranks()), 3), {}, "leaves the buffer");
  refused(Counts(index(ranks()), 3), {}, "elements; make the buffer longer");
  if (ranks() > 1) refused(Counts(index(ranks()), 2), Counts(index(ranks()), 0), "overlap");
  expect_error(outcome_of([&] { allgatherv(comm(), Numbers(1), out, Counts(index(ranks()), 2)); }),
               ErrorCode::invalid_argument, {"allgatherv", "block of this rank"});
  allgatherv(comm(), in, out, Counts(index(ranks()), 2));
}

INSTANTIATE_TEST_SUITE_P(Ranks, Sections, testing::Values(1, 2, 3, 5, 8));

}  // namespace
}  // namespace chorus::test
