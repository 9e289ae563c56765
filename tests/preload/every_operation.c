// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of chorus: reductions by functions of its own, in which the order matters or not, on
// basic types and its own; by MPI_MINLOC and MPI_MAXLOC on every pair; and products of complex numbers. Compares with
// what it computes itself.
#include "check.h"

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 8, wide = 3000 };

static int rank, ranks;
static MPI_Datatype expected_type;  // that of the call under way
static size_t type_alignment;
static int calls;
static bool of_mpi;  // without chorus: what MPI does wrong is left out

static void check_arguments(const void* in, const void* inout, const MPI_Datatype* type) {
  CHECK(*type == expected_type);
  CHECK(of_mpi || ((uintptr_t)in % type_alignment == 0 && (uintptr_t)inout % type_alignment == 0));
  ++calls;
}

// x -> a x + b. First the left one, then the right: their order matters.
struct line {
  uint32_t a, b;
};

static struct line then(struct line left, struct line right) {
  return (struct line){left.a * right.a, right.a * left.b + right.b};
}

static void join_lines(void* in, void* inout, int* count, MPI_Datatype* type) {
  check_arguments(in, inout, type);
  const struct line* left = in;
  struct line* right = inout;
  for (int index = 0; index < *count; ++index) right[index] = then(left[index], right[index]);
}

static void join_wide_lines(void* in, void* inout, int* count, MPI_Datatype* type) {
  check_arguments(in, inout, type);
  for (int index = 0; index < *count * wide; ++index)
    ((struct line*)inout)[index] = then(((struct line*)in)[index], ((struct line*)inout)[index]);
}

static void largest_of_each(void* in, void* inout, int* count, MPI_Datatype* type) {
  check_arguments(in, inout, type);
  uint32_t* const numbers = inout;
  for (int index = 0; index < 2 * *count; ++index) {
    if (((uint32_t*)in)[index] > numbers[index]) numbers[index] = ((uint32_t*)in)[index];
  }
}

// One element in `type` is `lines` of them.
struct reduction {
  MPI_Datatype type;
  MPI_Op op;
  int lines;
  bool ordered;
  size_t alignment;
};

static struct line line_of(int of, size_t index) {
  return (struct line){2 * (uint32_t)of + 3, (uint32_t)(7 * index + (size_t)of * 5 + 1)};
}

static struct line joined(const struct reduction* reduction, size_t index, int last) {
  struct line result = line_of(0, index);
  for (int of = 1; of <= last; ++of) {
    const struct line next = line_of(of, index);
    if (reduction->ordered) {
      result = then(result, next);
    } else {
      if (next.a > result.a) result.a = next.a;
      if (next.b > result.b) result.b = next.b;
    }
  }
  return result;
}

static struct line* lines_of(int of, size_t count) {
  struct line* lines = malloc(sizeof *lines * count + 1);
  for (size_t index = 0; index < count; ++index) lines[index] = line_of(of, index);
  return lines;
}

static void check_lines(const struct reduction* reduction, const struct line* found, size_t first, size_t count,
                        int last) {
  for (size_t index = 0; index < count; ++index) {
    const struct line expected = joined(reduction, first + index, last);
    CHECK(found[index].a == expected.a && found[index].b == expected.b);
  }
}

static void check_reductions(const struct reduction* r, int count, bool in_place) {
  const size_t lines = (size_t)(count * r->lines);
  struct line* in = lines_of(rank, lines * (size_t)ranks);
  expected_type = r->type;
  type_alignment = r->alignment;
  for (int kind = 0; kind < 3; ++kind) {
    struct line* out = lines_of(rank, lines);
    const void* from = in_place ? MPI_IN_PLACE : in;
    const int last = kind == 0 ? ranks - 1 : kind == 1 ? rank : rank - 1;
    if (kind == 0) CHECK(MPI_Allreduce(from, out, count, r->type, r->op, MPI_COMM_WORLD) == MPI_SUCCESS);
    if (kind == 1) CHECK(MPI_Scan(from, out, count, r->type, r->op, MPI_COMM_WORLD) == MPI_SUCCESS);
    if (kind == 2) CHECK(MPI_Exscan(from, out, count, r->type, r->op, MPI_COMM_WORLD) == MPI_SUCCESS);
    if (last >= 0) check_lines(r, out, 0, lines, last);
    free(out);
  }
  for (int root = 0; root < ranks; ++root) {
    if (of_mpi && in_place && root > 0) continue;  // MPICH 4.0 crashes
    struct line* out = rank == root ? lines_of(rank, lines) : NULL;
    const void* from = in_place && rank == root ? MPI_IN_PLACE : in;
    CHECK(MPI_Reduce(from, out, count, r->type, r->op, root, MPI_COMM_WORLD) == MPI_SUCCESS);
    if (rank == root) check_lines(r, out, 0, lines, ranks - 1);
    free(out);
  }
  struct line* out = lines_of(rank, lines * (size_t)ranks);
  CHECK(MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : in, out, count, r->type, r->op, MPI_COMM_WORLD) ==
        MPI_SUCCESS);
  check_lines(r, out, (size_t)rank * lines, lines, ranks - 1);
  free(out);
  // All but `count` elements go to the last rank.
  out = lines_of(rank, lines * (size_t)ranks);
  int counts[most_ranks] = {0};
  counts[ranks - 1] = count;
  CHECK(MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : in, out, counts, r->type, r->op, MPI_COMM_WORLD) == MPI_SUCCESS);
  if (rank == ranks - 1) check_lines(r, out, 0, lines, ranks - 1);
  free(out);
  free(in);
}

static void functions_of_the_program(void) {
  MPI_Op join, join_wide, largest;
  MPI_Op_create(join_lines, 0, &join);
  MPI_Op_create(join_wide_lines, 0, &join_wide);
  MPI_Op_create(largest_of_each, 1, &largest);
  MPI_Datatype line, many;
  MPI_Type_contiguous(2, MPI_UINT32_T, &line);
  MPI_Type_contiguous(wide, line, &many);
  MPI_Type_commit(&line);
  MPI_Type_commit(&many);
  const struct reduction reductions[] = {
      {line, join, 1, true, 4},
      {line, largest, 1, false, 4},
      {MPI_INT64_T, join, 1, true, 8},  // two numbers in one
      {many, join_wide, wide, true, 8},
  };
  const int counts[] = {0, 1, 7, 300, 5000};
  for (size_t r = 0; r < sizeof reductions / sizeof *reductions; ++r) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
      if (counts[c] * reductions[r].lines > 7 * wide) continue;
      for (int in_place = 0; in_place < 2; ++in_place) check_reductions(&reductions[r], counts[c], in_place);
    }
  }
  CHECK(calls > 0 || ranks == 1);
  MPI_Type_free(&line);
  MPI_Type_free(&many);
  MPI_Op_free(&join);
  MPI_Op_free(&join_wide);
  MPI_Op_free(&largest);
}

// Elements with gaps, which nobody may write.
struct sparse {
  int32_t gap_before;
  int32_t place;
  double value;
  int64_t gap_after;
};

static void join_sparse(void* in, void* inout, int* count, MPI_Datatype* type) {
  check_arguments(in, inout, type);
  const struct sparse* left = in;
  struct sparse* right = inout;
  for (int index = 0; index < *count; ++index) right[index].value += left[index].value;  // and the last place
}

static struct sparse* sparse_elements(int count, int place, double value) {
  struct sparse* elements = malloc(sizeof *elements * (size_t)count);
  for (int index = 0; index < count; ++index) elements[index] = (struct sparse){-1 - rank, place, value, -1 - rank};
  return elements;
}

// Of the ranks from 0 to `last`.
static void check_sparse(const struct sparse* found, int count, int last) {
  for (int index = 0; index < count; ++index) {
    CHECK(found[index].value == (last + 1) * (last + 2) / 2 && found[index].place == last);
    CHECK(found[index].gap_before == -1 - rank && found[index].gap_after == -1 - rank);
  }
}

static void elements_with_gaps(int count) {
  MPI_Datatype fields, type;
  MPI_Op op;
  const MPI_Datatype types[] = {MPI_INT32_T, MPI_DOUBLE};
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {offsetof(struct sparse, place), offsetof(struct sparse, value)};
  MPI_Type_create_struct(2, lengths, places, types, &fields);
  MPI_Type_create_resized(fields, 0, sizeof(struct sparse), &type);
  MPI_Type_commit(&type);
  MPI_Op_create(join_sparse, 0, &op);
  expected_type = type;
  type_alignment = 8;
  for (int in_place = 0; in_place < 2; ++in_place) {
    struct sparse* in = sparse_elements(count * ranks, rank, rank + 1);
    for (int kind = 0; kind < 4; ++kind) {
      struct sparse* out = sparse_elements(count * ranks, rank, rank + 1);
      const void* from = in_place ? MPI_IN_PLACE : in;
      int last = ranks - 1;
      if (kind == 0) MPI_Allreduce(from, out, count, type, op, MPI_COMM_WORLD);
      if (kind == 1) MPI_Reduce_scatter_block(from, out, count, type, op, MPI_COMM_WORLD);
      if (kind == 2) MPI_Scan(from, out, count, type, op, MPI_COMM_WORLD);
      if (kind == 3) MPI_Exscan(from, out, count, type, op, MPI_COMM_WORLD);
      if (kind >= 2) last = kind == 2 ? rank : rank - 1;
      if (last >= 0) check_sparse(out, count, last);
      free(out);
    }
    for (int root = 0; root < ranks; ++root) {
      if (of_mpi && in_place && root > 0) continue;  // MPICH 4.0 crashes
      struct sparse* out = sparse_elements(count, rank, rank + 1);
      MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : in, out, count, type, op, root, MPI_COMM_WORLD);
      for (int index = 0; index < count && rank != root; ++index) CHECK(out[index].value == rank + 1);
      if (rank == root) check_sparse(out, count, ranks - 1);
      free(out);
    }
    free(in);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&fields);
  MPI_Type_free(&type);
}

#define CHECK_PLACES(handle, T, I)                                                                                \
  do {                                                                                                            \
    struct pair {                                                                                                 \
      T value;                                                                                                    \
      I place;                                                                                                    \
    } in[50], least[50], largest[50];                                                                             \
    for (int index = 0; index < 50; ++index) in[index] = (struct pair){(T)((rank + index) % 3), (I)(100 * rank)}; \
    CHECK(MPI_Allreduce(in, least, 50, handle, MPI_MINLOC, MPI_COMM_WORLD) == MPI_SUCCESS);                       \
    memcpy(largest, in, sizeof in);                                                                               \
    CHECK(MPI_Allreduce(MPI_IN_PLACE, largest, 50, handle, MPI_MAXLOC, MPI_COMM_WORLD) == MPI_SUCCESS);           \
    for (int index = 0; index < 50; ++index) {                                                                    \
      struct pair low = {(T)(index % 3), 0}, high = low;                                                          \
      for (int of = 1; of < ranks; ++of) {                                                                        \
        const struct pair next = {(T)((of + index) % 3), (I)(100 * of)};                                          \
        if (next.value < low.value) low = next;                                                                   \
        if (next.value > high.value) high = next;                                                                 \
      }                                                                                                           \
      CHECK(least[index].value == low.value && least[index].place == low.place);                                  \
      CHECK(largest[index].value == high.value && largest[index].place == high.place);                            \
    }                                                                                                             \
  } while (0)

static void values_with_their_places(void) {
  CHECK_PLACES(MPI_2INT, int, int);
  CHECK_PLACES(MPI_FLOAT_INT, float, int);
  CHECK_PLACES(MPI_DOUBLE_INT, double, int);
  CHECK_PLACES(MPI_LONG_INT, long, int);
  CHECK_PLACES(MPI_SHORT_INT, short, int);
  CHECK_PLACES(MPI_LONG_DOUBLE_INT, long double, int);
}

static void products_of_complex_numbers(void) {
  double complex product[20], expected = 1;
  for (int of = 0; of < ranks; ++of) expected *= of + 1 + 2 * I;
  for (int index = 0; index < 20; ++index) product[index] = rank + 1 + 2 * I;
  CHECK(MPI_Allreduce(MPI_IN_PLACE, product, 20, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int index = 0; index < 20; ++index) CHECK(product[index] == expected);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(ranks <= most_ranks);
  of_mpi = getenv("TEST_OF_MPI_ITSELF") != NULL;
  for (int turn = 0; turn < 20; ++turn) MPI_Barrier(MPI_COMM_WORLD);  // chorus leaves the first calls to MPI
  functions_of_the_program();
  elements_with_gaps(1);
  elements_with_gaps(700);
  elements_with_gaps(20000);
  values_with_their_places();
  products_of_complex_numbers();
  if (rank == 0) printf("every operation: right on %d ranks\n", ranks);
  MPI_Finalize();
  return 0;
}
