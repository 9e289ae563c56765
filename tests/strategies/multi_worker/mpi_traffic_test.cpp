// SPDX-License-Identifier: Apache-2.0
// The program's own messages on MPI_COMM_WORLD, while a strategy sends its own: neither gets the other's, and MPI runs
// on when the strategy has gone.
#include "multi_worker/multi_worker.hpp"

#include <chorus/environment.hpp>
#include <chorus/strategies/optimizers.hpp>
#include <chorus/strategies/variable.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <vector>

namespace chorus::test {
namespace {

using testing::Each;
using Vector = std::vector<double>;

constexpr int tags = 64;  // from 0, those of the program

/// A message of a program with each tag, to the right neighbour, and those from the left one.
class Traffic {
 public:
  void send() {
    for (int tag = 0; tag < tags; ++tag) {
      sent_[index(tag)] = value(job_rank(), tag);
      MPI_Isend(&sent_[index(tag)], 1, MPI_INT, (job_rank() + 1) % job_size(), tag, MPI_COMM_WORLD, next());
    }
  }
  /// Takes whatever comes, from anyone, with any tag.
  void receive_any() {
    for (int& each : received_) {
      MPI_Irecv(&each, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, next());
    }
  }
  void receive_by_tag() {
    for (int tag = 0; tag < tags; ++tag) {
      MPI_Irecv(&received_[index(tag)], 1, MPI_INT, left(), tag, MPI_COMM_WORLD, next());
    }
  }
  /// Whether no message has come yet where some are awaited.
  void expect_nothing_came() {
    for (MPI_Request& request : requests_) {
      int done = 0;
      MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
      EXPECT_EQ(done, 0) << "a message of the strategy's";
    }
  }
  void expect_all_came() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    for (int tag = 0; tag < tags; ++tag) EXPECT_EQ(received_[index(tag)], value(left(), tag));
    received_.fill(-1);
  }

 private:
  static std::size_t index(int tag) { return static_cast<std::size_t>(tag); }
  static int value(int rank, int tag) { return 1000 * rank + tag; }
  static int left() { return (job_rank() + job_size() - 1) % job_size(); }
  MPI_Request* next() {
    requests_.reserve(std::size_t{2} * tags);
    return &requests_.emplace_back(MPI_REQUEST_NULL);
  }

  std::array<int, tags> sent_{};
  std::array<int, tags> received_{};
  std::vector<MPI_Request> requests_;
};

/// Everything that sends something between the workers.
void expect_works(MultiWorkerMirroredStrategy& several, int sum_of_ids) {
  const auto scope = several.scope();
  const Variable<Vector> weights(Vector(3000, job_rank()), {.name = "weights"});
  Sgd optimizer{std::tuple(weights), {.learning_rate = 1}};
  several.run([&] { optimizer.apply_gradients(std::tuple(Vector(3000, id()))); });
  EXPECT_THAT(weights.value(), Each(-sum_of_ids));
  const auto ids = several.run(id);
  EXPECT_EQ(several.reduce(ReduceOp::sum, ids), sum_of_ids);
  std::vector<int> all(static_cast<std::size_t>(several.num_replicas_in_sync()));
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(several.gather(several.run([] { return std::vector{id()}; }), 0), all);
}

TEST_P(MultiWorker, Case203_MessagesOfTheProgramAndOfTheStrategyStayApart) {
  for (const char* const memory : {"auto", "off"}) {  // off: all that the workers tell each other are messages of MPI
    SCOPED_TRACE(memory);
    const ScopedVariable shared_memory("CHORUS_SHARED_MEMORY", memory);
    MultiWorkerMirroredStrategy several = strategy();
    Traffic traffic;
    traffic.receive_any();
    expect_works(several, sum_of_ids());
    MPI_Barrier(MPI_COMM_WORLD);
    traffic.expect_nothing_came();
    MPI_Barrier(MPI_COMM_WORLD);
    traffic.send();
    expect_works(several, sum_of_ids());
    traffic.expect_all_came();

    traffic.send();
    MPI_Barrier(MPI_COMM_WORLD);  // they lie at their receivers, who do not await them yet
    expect_works(several, sum_of_ids());
    traffic.receive_by_tag();
    traffic.expect_all_came();
  }
}

TEST_P(MultiWorker, Case203_MpiOfTheProgramRunsOn) {
  {
    const Environment environment;
    MultiWorkerMirroredStrategy several = strategy();
    expect_works(several, sum_of_ids());
  }
  int finalized = 1;
  MPI_Finalized(&finalized);
  EXPECT_EQ(finalized, 0);
  int ranks = 1;
  MPI_Allreduce(MPI_IN_PLACE, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(ranks, job_size());
  MultiWorkerMirroredStrategy another = strategy();
  expect_works(another, sum_of_ids());
}

}  // namespace
}  // namespace chorus::test
