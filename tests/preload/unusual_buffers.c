// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of chorus, and is careless with its buffers: one for both arguments, or places in the
// result, which MPI forbids and programs do; functions that write to both their arguments; MPI_IN_PLACE where it has no
// meaning; MPI_BOTTOM. What rank `from` gives to rank `to` is value(from, to).
#define _DEFAULT_SOURCE
#include "check.h"

#include <limits.h>
#include <stdint.h>
#include <sys/mman.h>

enum { most_ranks = 8, many = 3000 };

static int rank, ranks;
static int counts[most_ranks], places[most_ranks], reversed[most_ranks], bytes[most_ranks], reversed_bytes[most_ranks];
static MPI_Datatype types[most_ranks];

static int value(int from, int to) { return 100 * from + to + 1; }

static int sum_for(int to) {
  int sum = 0;
  for (int from = 0; from < ranks; ++from) sum += value(from, to);
  return sum;
}

// What goes to each rank, also where `order` says.
static void fill(int* data, const int* order) {
  for (int to = 0; to < ranks; ++to) data[order[to]] = value(rank, to);
}

static void check_gathered(const int* data) {
  for (int from = 0; from < ranks; ++from) CHECK(data[from] == value(from, 0));
}

static void check_received(const int* data, const int* order) {
  for (int from = 0; from < ranks; ++from) CHECK(data[order[from]] == value(from, rank));
}

// On the root the same buffer, or, with `own_place`, that place in it.
static void gather_and_scatter(int root, int own_place) {
  int data[most_ranks], own = value(rank, 0);
  int* const mine = rank == root ? &data[own_place] : &own;
  data[own_place] = value(rank, 0);
  MPI_Gather(mine, 1, MPI_INT, data, 1, MPI_INT, root, MPI_COMM_WORLD);
  if (rank == root) check_gathered(data);
  data[own_place] = value(rank, 0);
  MPI_Gatherv(mine, 1, MPI_INT, data, counts, places, MPI_INT, root, MPI_COMM_WORLD);
  if (rank == root) check_gathered(data);
  fill(data, places);
  MPI_Scatter(data, 1, MPI_INT, mine, 1, MPI_INT, root, MPI_COMM_WORLD);
  CHECK(*mine == value(root, rank));
  fill(data, places);
  MPI_Scatterv(data, counts, places, MPI_INT, mine, 1, MPI_INT, root, MPI_COMM_WORLD);
  CHECK(*mine == value(root, rank));
}

static void allgather(int own_place) {
  int data[most_ranks];
  data[own_place] = value(rank, 0);
  MPI_Allgather(&data[own_place], 1, MPI_INT, data, 1, MPI_INT, MPI_COMM_WORLD);
  check_gathered(data);
  data[own_place] = value(rank, 0);
  MPI_Allgatherv(&data[own_place], 1, MPI_INT, data, counts, places, MPI_INT, MPI_COMM_WORLD);
  check_gathered(data);
}

// `order`: of what is received.
static void alltoall(const int* order, const int* order_bytes) {
  int data[most_ranks];
  fill(data, places);
  MPI_Alltoall(data, 1, MPI_INT, data, 1, MPI_INT, MPI_COMM_WORLD);
  check_received(data, places);
  fill(data, places);
  MPI_Alltoallv(data, counts, places, MPI_INT, data, counts, order, MPI_INT, MPI_COMM_WORLD);
  check_received(data, order);
  fill(data, places);
  MPI_Alltoallw(data, counts, bytes, types, data, counts, order_bytes, types, MPI_COMM_WORLD);
  check_received(data, order);
}

// What is sent and what is received lie in turns: MPI allows that.
static void alltoallv_in_turns(void) {
  int data[2 * most_ranks], sent[most_ranks], received[most_ranks];
  for (int of = 0; of < ranks; ++of) {
    sent[of] = 2 * of;
    received[of] = 2 * of + 1;
  }
  fill(data, sent);
  MPI_Alltoallv(data, counts, sent, MPI_INT, data, counts, received, MPI_INT, MPI_COMM_WORLD);
  check_received(data, received);
  for (int to = 0; to < ranks; ++to) CHECK(data[sent[to]] == value(rank, to));
}

// Rank 0 neither gives nor gets.
static void check_of_others(const int* data) {
  for (int from = 1; rank > 0 && from < ranks; ++from) CHECK(data[from] == value(from, rank));
}

// Buffers begin at address 0, and displacements are addresses.
static void blocks_by_their_addresses(void) {
  enum { length = 2 * most_ranks * sizeof(int) };
  int* const in = mmap((void*)(1 << 30), length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int* const out = in + most_ranks;
  CHECK((intptr_t)out < INT_MAX);
  int lengths[most_ranks], from[most_ranks], to[most_ranks];
  for (int of = 0; of < ranks; ++of) {
    lengths[of] = rank > 0 && of > 0;
    from[of] = (int)(intptr_t)&in[of];
    to[of] = (int)(intptr_t)&out[of];
  }
  fill(in, places);
  MPI_Alltoallw(MPI_BOTTOM, lengths, from, types, MPI_BOTTOM, lengths, to, types, MPI_COMM_WORLD);
  check_of_others(out);
  for (int of = 0; of < ranks; ++of) {
    out[of] = 0;
    from[of] /= (int)sizeof(int);
    to[of] /= (int)sizeof(int);
  }
  MPI_Alltoallv(MPI_BOTTOM, lengths, from, MPI_INT, MPI_BOTTOM, lengths, to, MPI_INT, MPI_COMM_WORLD);
  check_of_others(out);
  munmap(in, length);
}

static void reductions(void) {
  int data[most_ranks];
  fill(data, places);
  MPI_Allreduce(data, data, ranks, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int to = 0; to < ranks; ++to) CHECK(data[to] == sum_for(to));
  fill(data, places);
  MPI_Reduce_scatter_block(data, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(data[0] == sum_for(rank));
  fill(data, places);
  MPI_Reduce_scatter(data, data, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(data[0] == sum_for(rank));
}

// Of one array, whose contents are others in each call.
static void counts_that_change(void) {
  enum { calls = 30, longest = 3 };
  int in[most_ranks * longest], out[longest], lengths[most_ranks];
  for (int call = 0; call < calls; ++call) {
    const int length = 1 + call * longest / calls;
    for (int to = 0; to < ranks; ++to) {
      lengths[to] = length;
      for (int index = 0; index < length; ++index) in[to * length + index] = value(rank, to) + index;
    }
    MPI_Reduce_scatter(in, out, lengths, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int index = 0; index < length; ++index) CHECK(out[index] == sum_for(rank) + ranks * index);
  }
}

// What rank 0 passes for its result has no meaning, and stays as it is.
static void exscan(int count) {
  int in[many], out[many];
  for (int index = 0; index < count; ++index) {
    in[index] = value(rank, index);
    out[index] = -1;
  }
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Exscan(in, rank == 0 && turn == 0 ? NULL : out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int index = 0; index < count; ++index) {
      CHECK(in[index] == value(rank, index));
      int sum = rank == 0 ? -1 : 0;
      for (int before = 0; before < rank; ++before) sum += value(before, index);
      CHECK(out[index] == sum);
    }
  }
}

static void add_and_spoil(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int index = 0; index < *count; ++index) {
    ((int*)inout)[index] += ((int*)in)[index];
    ((int*)in)[index] = -999;
  }
}

static void function_that_spoils_what_it_reads(int count, int commutes) {
  int in[many], out[many];
  MPI_Op op;
  MPI_Op_create(add_and_spoil, commutes, &op);
  for (int index = 0; index < count; ++index) in[index] = value(rank, index);
  for (int turn = 0; turn < 20; ++turn) {
    MPI_Allreduce(in, out, count, MPI_INT, op, MPI_COMM_WORLD);
    for (int index = 0; index < count; ++index) CHECK(out[index] == sum_for(index) && in[index] == value(rank, index));
    MPI_Scan(in, out, count, MPI_INT, op, MPI_COMM_WORLD);
    for (int index = 0; index < count; ++index) CHECK(in[index] == value(rank, index));
    if (rank == ranks - 1) CHECK(out[count - 1] == sum_for(count - 1));
    MPI_Reduce(in, out, count, MPI_INT, op, 0, MPI_COMM_WORLD);
    for (int index = 0; index < count; ++index) CHECK(in[index] == value(rank, index));
    if (rank == 0) CHECK(out[count - 1] == sum_for(count - 1));
  }
  MPI_Op_free(&op);
}

#ifdef OPEN_MPI
#define CHECK_WRONG(call)                                   \
  do {                                                      \
    int class = 0;                                          \
    MPI_Error_class(call, &class);                          \
    CHECK(class == MPI_ERR_ARG || class == MPI_ERR_BUFFER); \
  } while (0)

// Debian's MPICH is built without looking for it.
static void in_place_where_it_has_no_meaning(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int data[most_ranks] = {0};
  void* const nowhere = MPI_IN_PLACE;
  CHECK_WRONG(MPI_Bcast(nowhere, 1, MPI_INT, 0, MPI_COMM_WORLD));
  CHECK_WRONG(MPI_Allgather(data, 1, MPI_INT, nowhere, 1, MPI_INT, MPI_COMM_WORLD));
  CHECK_WRONG(MPI_Alltoallv(data, counts, places, MPI_INT, nowhere, counts, places, MPI_INT, MPI_COMM_WORLD));
  CHECK_WRONG(MPI_Reduce_scatter(data, nowhere, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_WRONG(MPI_Allreduce(data, nowhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_WRONG(MPI_Scan(nowhere, nowhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(ranks <= most_ranks);
  for (int of = 0; of < ranks; ++of) {
    counts[of] = 1;
    places[of] = of;
    reversed[of] = ranks - 1 - of;
    bytes[of] = (int)sizeof(int) * places[of];
    reversed_bytes[of] = (int)sizeof(int) * reversed[of];
    types[of] = MPI_INT;
  }
  for (int turn = 0; turn < 20; ++turn) MPI_Barrier(MPI_COMM_WORLD);
  for (int root = 0; root < ranks; ++root) {
    gather_and_scatter(root, 0);
    gather_and_scatter(root, root);
  }
  allgather(0);
  allgather(rank);
  alltoall(places, bytes);
  alltoall(reversed, reversed_bytes);
  alltoallv_in_turns();
  blocks_by_their_addresses();
  reductions();
  counts_that_change();
  for (int count = 1; count <= many; count = 14 * count + 1) {
    exscan(count);
    function_that_spoils_what_it_reads(count, 1);
    function_that_spoils_what_it_reads(count, 0);
  }
#ifdef OPEN_MPI
  in_place_where_it_has_no_meaning();
#endif
  if (rank == 0) printf("unusual buffers: right on %d ranks\n", ranks);
  MPI_Finalize();
  return 0;
}
