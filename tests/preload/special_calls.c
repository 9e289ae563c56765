// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of chorus, and the calls that chorus must leave to MPI or take apart: types and
// operations of its own, intercommunicators, errors, messages under way, communicators that come and go.
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

// Each rank spells the same data in its own way: the root as columns of a matrix, the others as numbers.
static void types_that_differ_between_ranks(void) {
  int matrix[30][4];
  int column[30];
  MPI_Datatype columns;
  MPI_Type_vector(30, 1, 4, MPI_INT, &columns);
  MPI_Type_commit(&columns);
  for (int root = 0; root < ranks; ++root) {
    for (int row = 0; row < 30; ++row) {
      for (int place = 0; place < 4; ++place) matrix[row][place] = 100 * row + place;
      column[row] = -1;
    }
    if (rank == root) {
      MPI_Bcast(&matrix[0][2], 1, columns, root, MPI_COMM_WORLD);
    } else {
      MPI_Bcast(column, 30, MPI_INT, root, MPI_COMM_WORLD);
      for (int row = 0; row < 30; ++row) CHECK(column[row] == 100 * row + 2);
    }
    if (rank != root) {
      MPI_Bcast(&matrix[0][1], 1, columns, root, MPI_COMM_WORLD);
      for (int row = 0; row < 30; ++row) {
        CHECK(matrix[row][1] == 7 * row && matrix[row][0] == 100 * row && matrix[row][2] == 100 * row + 2);
      }
    } else {
      for (int row = 0; row < 30; ++row) column[row] = 7 * row;
      MPI_Bcast(column, 30, MPI_INT, root, MPI_COMM_WORLD);
    }
  }
  MPI_Type_free(&columns);
}

// Pairs of which the second comes first in the data, into a matrix whose columns are the ranks' blocks.
static void types_of_the_program_in_allgather(bool in_place) {
  int own[6];
  int (*table)[2] = calloc((size_t)(3 * ranks), sizeof *table);
  const int lengths[] = {1, 1};
  const int places[] = {1, 0};
  MPI_Datatype swapped;
  MPI_Type_indexed(2, lengths, places, MPI_INT, &swapped);
  MPI_Type_commit(&swapped);
  for (int index = 0; index < 6; ++index) own[index] = 10 * rank + index;
  if (in_place) {
    for (int pair = 0; pair < 3; ++pair) {
      table[3 * rank + pair][0] = own[2 * pair + 1];
      table[3 * rank + pair][1] = own[2 * pair];
    }
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, table, 3, swapped, MPI_COMM_WORLD);
  } else {
    MPI_Allgather(own, 6, MPI_INT, table, 3, swapped, MPI_COMM_WORLD);
  }
  for (int of = 0; of < ranks; ++of) {
    for (int pair = 0; pair < 3; ++pair) {
      CHECK(table[3 * of + pair][1] == 10 * of + 2 * pair && table[3 * of + pair][0] == 10 * of + 2 * pair + 1);
    }
  }
  MPI_Type_free(&swapped);
  free(table);
}

static void take_last(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in;
  (void)inout;
  (void)count;
  (void)type;
}

static void add_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int index = 0; index < 2 * *count; ++index) ((int*)inout)[index] += ((int*)in)[index];
}

static void operations_of_the_program(void) {
  MPI_Op last, sum_of_pairs;
  MPI_Op_create(take_last, 0, &last);
  MPI_Op_create(add_pairs, 1, &sum_of_pairs);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  int number = rank;
  MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, last, MPI_COMM_WORLD);
  CHECK(number == ranks - 1);
  const int one[2] = {rank, 1};
  int sum[2] = {0, 0};
  MPI_Allreduce(one, sum, 1, pair, sum_of_pairs, MPI_COMM_WORLD);
  CHECK(sum[0] == ranks * (ranks - 1) / 2 && sum[1] == ranks);
  const struct {
    double value;
    int place;
  } mine = {-rank, rank};
  struct {
    double value;
    int place;
  } least;
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(least.place == ranks - 1);
  MPI_Bcast(&least, 1, MPI_DOUBLE_INT, 0, MPI_COMM_WORLD);
  CHECK(least.place == ranks - 1);
  MPI_Type_free(&pair);
  MPI_Op_free(&last);
  MPI_Op_free(&sum_of_pairs);
}

// The arrays have as many places as the other group has ranks.
static void alltoallw_between_groups(MPI_Comm between) {
  enum { most = 16 };
  int in[most], out[most], counts[most], places[most], others = 0;
  MPI_Datatype types[most];
  CHECK(ranks <= most);
  MPI_Comm_remote_size(between, &others);
  memset(types, 1, sizeof types);  // what lies behind them is no type
  for (int of = 0; of < most; ++of) {
    in[of] = rank;
    counts[of] = 1;
    places[of] = of * (int)sizeof(int);
    if (of < others) types[of] = MPI_INT;
  }
  MPI_Alltoallw(in, counts, places, types, out, counts, places, types, between);
  for (int of = 0; of < others; ++of) CHECK(out[of] == 2 * of + 1 - rank % 2);
}

static void between_groups(void) {
  const int colour = rank % 2;
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, colour, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - colour, 5, &between);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, between);  // that of the other group
  int expected = 0;
  for (int other = 1 - colour; other < ranks; other += 2) expected += other;
  CHECK(sum == expected);
  MPI_Barrier(between);
  alltoallw_between_groups(between);
  MPI_Comm_free(&between);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
  expected = 0;
  for (int other = colour; other < ranks; other += 2) expected += other;
  CHECK(sum == expected);
  MPI_Comm_free(&half);
}

#ifdef OPEN_MPI
static int handled;
static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  ++handled;
}

// That MPI itself finds; Debian's MPICH is built without looking for them.
static void errors_are_returned(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int value = rank, result = 0, class = 0;
  MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, ranks, comm), &class);
  CHECK(class == MPI_ERR_ROOT);
  MPI_Error_class(MPI_Allreduce(&value, &result, -1, MPI_INT, MPI_SUM, comm), &class);
  CHECK(class == MPI_ERR_COUNT);
  CHECK(MPI_Allreduce(&value, &result, 1, MPI_DATATYPE_NULL, MPI_SUM, comm) != MPI_SUCCESS);
  CHECK(MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_OP_NULL, comm) != MPI_SUCCESS);
  CHECK(MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(result == ranks * (ranks - 1) / 2);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  CHECK(MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, -3, comm) != MPI_SUCCESS);
  CHECK(handled == 1);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}
#endif

// What a rank has begun to send arrives although the rank is inside a collective.
static void messages_under_way(void) {
  const int count = 4 << 20;
  double* data = malloc(sizeof *data * (size_t)count);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    for (int index = 0; index < count; ++index) data[index] = index;
    MPI_Isend(data, count, MPI_DOUBLE, ranks - 1, 3, MPI_COMM_WORLD, &request);
  }
  if (rank == ranks - 1) {
    MPI_Recv(data, count, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(data[count - 1] == count - 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(data);
}

// MPI's own nonblocking collectives are under way while chorus's blocking ones come and go.
static void nonblocking_ones_between(void) {
  enum { requests = 8 };
  MPI_Request under_way[requests];
  int sums[requests], values[requests];
  for (int index = 0; index < requests; ++index) {
    values[index] = rank + index;
    MPI_Iallreduce(&values[index], &sums[index], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &under_way[index]);
    int largest = rank;
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(largest == ranks - 1);
  }
  MPI_Status statuses[requests];
  MPI_Waitall(requests, under_way, statuses);
  for (int index = 0; index < requests; ++index) CHECK(sums[index] == ranks * (ranks - 1) / 2 + ranks * index);
  int done = 0, word = rank == 1 ? 99 : 0;
  MPI_Request bcast, barrier;
  MPI_Ibcast(&word, 1, MPI_INT, 1, MPI_COMM_WORLD, &bcast);
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  while (!done) MPI_Test(&bcast, &done, MPI_STATUS_IGNORE);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  CHECK(word == 99);
}

static void communicators_come_and_go(void) {
  for (int turn = 0; turn < 300; ++turn) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, turn % 2 == 0 ? rank : -rank, &comm);
    for (int call = 0; call < (turn % 20 == 0 ? 30 : 1); ++call) {
      int first = rank;
      MPI_Bcast(&first, 1, MPI_INT, 0, comm);
      CHECK(first == (turn % 2 == 0 ? 0 : ranks - 1));
    }
    MPI_Comm_free(&comm);
  }
  int sum = rank;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  CHECK(sum == rank);
}

static int sum_at_the_end(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm;
  (void)key;
  (void)value;
  (void)extra;
  int sum = 0;
  CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(sum == ranks * (ranks - 1) / 2);
  return MPI_SUCCESS;
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF, the last one first; their functions may call all of MPI.
static void work_at_the_end(void) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_at_the_end, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  MPI_Comm_free_keyval(&key);
}

int main(int argc, char** argv) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  CHECK(!initialized);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank % 2 == 0) work_at_the_end();
  for (int turn = 0; turn < 20; ++turn) MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 != 0) work_at_the_end();
  types_that_differ_between_ranks();
  types_of_the_program_in_allgather(false);
  types_of_the_program_in_allgather(true);
  operations_of_the_program();
  if (ranks > 1) between_groups();
#ifdef OPEN_MPI
  errors_are_returned();
#endif
  if (ranks > 1) messages_under_way();
  if (ranks > 1) nonblocking_ones_between();
  communicators_come_and_go();
  if (rank == 0) printf("special calls: right on %d ranks\n", ranks);
  MPI_Finalize();
  return 0;
}
