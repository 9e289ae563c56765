// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of chorus: calls each collective with every basic type and operation, in place and not,
// with every root, on the whole of MPI_COMM_WORLD, and compares with what it computes itself.
#include "call_forms.h"
#include "check.h"

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum kind { integer, floating, complex_number, boolean, bits, opaque };

struct type {
  const char* name;
  MPI_Datatype handle;
  enum kind kind;
  size_t bytes;
  void (*put)(void* data, int index, long value);
  bool (*holds)(const void* data, int index, long value);
};

#define ACCESS(name, T)                                                                                    \
  static void put_##name(void* data, int index, long value) { ((T*)data)[index] = (T)value; }              \
  static bool holds_##name(const void* data, int index, long value) { return ((const T*)data)[index] == (T)value; }
#define ACCESS_COMPLEX(name, T)                                                                                   \
  static void put_##name(void* data, int index, long value) { ((T*)data)[index] = (T)(value + 2 * value * I); }   \
  static bool holds_##name(const void* data, int index, long value) {                                             \
    return ((const T*)data)[index] == (T)(value + 2 * value * I);                                                 \
  }
ACCESS(i8, int8_t)
ACCESS(i16, int16_t)
ACCESS(i32, int32_t)
ACCESS(i64, int64_t)
ACCESS(u8, uint8_t)
ACCESS(u16, uint16_t)
ACCESS(u32, uint32_t)
ACCESS(u64, uint64_t)
ACCESS(f32, float)
ACCESS(f64, double)
ACCESS(fl, long double)
ACCESS(b, bool)
ACCESS_COMPLEX(c32, float complex)
ACCESS_COMPLEX(c64, double complex)
ACCESS_COMPLEX(cl, long double complex)

#define TYPE(handle, kind, name, T) {#handle, handle, kind, sizeof(T), put_##name, holds_##name}

static long combined(MPI_Op op, long a, long b) {
  if (op == MPI_SUM) return a + b;
  if (op == MPI_PROD) return a * b;
  if (op == MPI_MIN) return a < b ? a : b;
  if (op == MPI_MAX) return a > b ? a : b;
  if (op == MPI_LAND) return a && b;
  if (op == MPI_LOR) return a || b;
  if (op == MPI_LXOR) return !a != !b;
  if (op == MPI_BAND) return a & b;
  if (op == MPI_BOR) return a | b;
  return a ^ b;
}

static bool defined(enum kind kind, MPI_Op op) {
  const bool logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
  const bool bitwise = op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR;
  if (kind == integer) return true;
  if (kind == floating) return !logical && !bitwise;
  if (kind == complex_number) return op == MPI_SUM;
  if (kind == boolean) return logical;
  return kind == bits && bitwise;
}

static int rank, ranks;
static bool of_mpi;  // without chorus: what MPI does wrong is left out

// What rank `of` puts at `index`; small, so that all types hold it, and the products of five ranks too.
static long value_of(const struct type* type, int of, int index) {
  if (type->kind == boolean) return (of + index) % 2;
  return (of + index) % 3;
}

static long result_at(const struct type* type, MPI_Op op, int index) {
  long result = value_of(type, 0, index);
  for (int of = 1; of < ranks; ++of) result = combined(op, result, value_of(type, of, index));
  return result;
}

static void* filled(const struct type* type, int count, int offset) {
  char* data = malloc(type->bytes * (size_t)count + 1);
  for (int index = 0; index < count; ++index) type->put(data, index, value_of(type, rank, offset + index));
  return data;
}

static void* poisoned(const struct type* type, int count) {
  char* data = malloc(type->bytes * (size_t)count + 1);
  memset(data, 0x5A, type->bytes * (size_t)count + 1);
  return data;
}

static void check_bcast(const struct type* type, int count, int root) {
  char* data = rank == root ? filled(type, count, 0) : poisoned(type, count);
  CHECK(MPI_Bcast(data, count, type->handle, root, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int index = 0; index < count; ++index) CHECK(type->holds(data, index, value_of(type, root, index)));
  free(data);
}

static void check_allgather(const struct type* type, int count, bool in_place) {
  char* in = filled(type, count, 0);
  char* out = poisoned(type, count * ranks);
  const void* from = in;
  if (in_place) {
    memcpy(out + (size_t)(rank * count) * type->bytes, in, (size_t)count * type->bytes);
    from = MPI_IN_PLACE;
  }
  CHECK(MPI_Allgather(from, count, type->handle, out, count, type->handle, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int of = 0; of < ranks; ++of) {
    for (int index = 0; index < count; ++index) CHECK(type->holds(out, of * count + index, value_of(type, of, index)));
  }
  free(in);
  free(out);
}

// Block b of rank r holds what allgather's block of rank r would, from b * count on.
static void check_alltoall(const struct type* type, int count, bool in_place) {
  char* in = filled(type, count * ranks, 0);
  char* out = in_place ? filled(type, count * ranks, 0) : poisoned(type, count * ranks);
  const void* from = in_place ? MPI_IN_PLACE : in;
  CHECK(MPI_Alltoall(from, count, type->handle, out, count, type->handle, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int of = 0; of < ranks; ++of) {
    for (int index = 0; index < count; ++index) {
      CHECK(type->holds(out, of * count + index, value_of(type, of, rank * count + index)));
    }
  }
  free(in);
  free(out);
}

static void check_gather(const struct type* type, int count, int root, bool in_place) {
  char* in = filled(type, count, 0);
  char* out = rank == root ? poisoned(type, count * ranks) : NULL;
  const void* from = in;
  if (in_place && rank == root) {
    memcpy(out + (size_t)(rank * count) * type->bytes, in, (size_t)count * type->bytes);
    from = MPI_IN_PLACE;
  }
  CHECK(MPI_Gather(from, count, type->handle, out, count, type->handle, root, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int of = 0; of < ranks && rank == root; ++of) {
    for (int index = 0; index < count; ++index) CHECK(type->holds(out, of * count + index, value_of(type, of, index)));
  }
  free(in);
  free(out);
}

static void check_scatter(const struct type* type, int count, int root, bool in_place) {
  char* in = rank == root ? filled(type, count * ranks, 0) : NULL;
  char* out = poisoned(type, count);
  void* to = in_place && rank == root ? MPI_IN_PLACE : out;
  CHECK(MPI_Scatter(in, count, type->handle, to, count, type->handle, root, MPI_COMM_WORLD) == MPI_SUCCESS);
  const char* got = to == out ? out : in + (size_t)(rank * count) * type->bytes;
  for (int index = 0; index < count; ++index) {
    CHECK(type->holds(got, index, value_of(type, root, rank * count + index)));
  }
  free(in);
  free(out);
}

static void check_scans(const struct type* type, MPI_Op op, int count, bool in_place) {
  char* in = filled(type, count, 0);
  const void* from = in_place ? MPI_IN_PLACE : in;
  for (int exclusive = 0; exclusive < 2; ++exclusive) {
    char* out = in_place ? filled(type, count, 0) : poisoned(type, count);
    CHECK((exclusive ? MPI_Exscan(from, out, count, type->handle, op, MPI_COMM_WORLD)
                     : MPI_Scan(from, out, count, type->handle, op, MPI_COMM_WORLD)) == MPI_SUCCESS);
    const int last = exclusive ? rank - 1 : rank;
    for (int index = 0; index < count && last >= 0; ++index) {
      long result = value_of(type, 0, index);
      for (int of = 1; of <= last; ++of) result = combined(op, result, value_of(type, of, index));
      if (last > 0) CHECK(type->holds(out, index, result));
    }
    free(out);
  }
  free(in);
}

static void check_allreduce(const struct type* type, MPI_Op op, int count, bool in_place) {
  char* in = filled(type, count, 0);
  char* out = in_place ? filled(type, count, 0) : poisoned(type, count);
  CHECK(MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, type->handle, op, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int index = 0; index < count; ++index) CHECK(type->holds(out, index, result_at(type, op, index)));
  for (int index = 0; index < count; ++index) CHECK(type->holds(in, index, value_of(type, rank, index)));
  free(in);
  free(out);
}

static void check_reduce(const struct type* type, MPI_Op op, int count, int root, bool in_place) {
  char* in = filled(type, count, 0);
  char* out = rank != root ? NULL : in_place ? filled(type, count, 0) : poisoned(type, count);
  const void* from = in_place && rank == root ? MPI_IN_PLACE : in;
  CHECK(MPI_Reduce(from, out, count, type->handle, op, root, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int index = 0; index < count && rank == root; ++index) {
    CHECK(type->holds(out, index, result_at(type, op, index)));
  }
  free(in);
  free(out);
}

static void check_reduce_scatter_block(const struct type* type, MPI_Op op, int count, bool in_place) {
  char* in = filled(type, count * ranks, 0);
  char* out = in_place ? filled(type, count * ranks, 0) : poisoned(type, count);
  const void* from = in_place ? MPI_IN_PLACE : in;
  CHECK(MPI_Reduce_scatter_block(from, out, count, type->handle, op, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int index = 0; index < count; ++index) {
    CHECK(type->holds(out, index, result_at(type, op, rank * count + index)));
  }
  free(in);
  free(out);
}

// Open MPI 4.1 adds short integers wrongly on processors with AVX; MPICH 4.0 crashes in a reduce in place on another root
// than rank 0.
static bool known_to_be_right(const struct type* type, MPI_Op op) { return type->bytes > 2 || op != MPI_SUM || !of_mpi; }
static bool known_to_end(int root, bool in_place) { return root == 0 || !in_place || !of_mpi; }

static void check_reductions(const struct type* type, MPI_Op op, int count) {
  for (int in_place = 0; in_place < 2; ++in_place) {
    check_allreduce(type, op, count, in_place);
    check_reduce_scatter_block(type, op, count, in_place);
    check_scans(type, op, count, in_place);
    for (int root = 0; root < ranks; ++root) {
      if (known_to_end(root, in_place)) check_reduce(type, op, count, root, in_place);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int turn = 0; turn < 20; ++turn) MPI_Barrier(MPI_COMM_WORLD);  // chorus leaves the first calls to MPI
  of_mpi = getenv("TEST_OF_MPI_ITSELF") != NULL;
  const struct type types[] = {
      TYPE(MPI_SIGNED_CHAR, integer, i8, int8_t),
      TYPE(MPI_UNSIGNED_CHAR, integer, u8, uint8_t),
      TYPE(MPI_SHORT, integer, i16, int16_t),
      TYPE(MPI_UNSIGNED_SHORT, integer, u16, uint16_t),
      TYPE(MPI_INT, integer, i32, int32_t),
      TYPE(MPI_UNSIGNED, integer, u32, uint32_t),
      TYPE(MPI_LONG, integer, i64, int64_t),
      TYPE(MPI_UNSIGNED_LONG, integer, u64, uint64_t),
      TYPE(MPI_LONG_LONG, integer, i64, int64_t),
      TYPE(MPI_UNSIGNED_LONG_LONG, integer, u64, uint64_t),
      TYPE(MPI_INT8_T, integer, i8, int8_t),
      TYPE(MPI_INT16_T, integer, i16, int16_t),
      TYPE(MPI_INT32_T, integer, i32, int32_t),
      TYPE(MPI_INT64_T, integer, i64, int64_t),
      TYPE(MPI_UINT8_T, integer, u8, uint8_t),
      TYPE(MPI_UINT16_T, integer, u16, uint16_t),
      TYPE(MPI_UINT32_T, integer, u32, uint32_t),
      TYPE(MPI_UINT64_T, integer, u64, uint64_t),
      TYPE(MPI_AINT, integer, i64, int64_t),
      TYPE(MPI_OFFSET, integer, i64, int64_t),
      TYPE(MPI_COUNT, integer, i64, int64_t),
      TYPE(MPI_FLOAT, floating, f32, float),
      TYPE(MPI_DOUBLE, floating, f64, double),
      TYPE(MPI_LONG_DOUBLE, floating, fl, long double),
      TYPE(MPI_C_FLOAT_COMPLEX, complex_number, c32, float complex),
      TYPE(MPI_C_DOUBLE_COMPLEX, complex_number, c64, double complex),
      TYPE(MPI_C_LONG_DOUBLE_COMPLEX, complex_number, cl, long double complex),
      TYPE(MPI_C_BOOL, boolean, b, bool),
      TYPE(MPI_BYTE, bits, u8, uint8_t),
      TYPE(MPI_CHAR, opaque, i8, int8_t),
      TYPE(MPI_WCHAR, opaque, i32, int32_t),
  };
  const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
  const int counts[] = {0, 1, 7, 300, 5000};
  for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
      for (int root = 0; root < ranks; ++root) check_bcast(&types[t], counts[c], root);
      for (int in_place = 0; in_place < 2; ++in_place) {
        check_allgather(&types[t], counts[c], in_place);
        check_alltoall(&types[t], counts[c], in_place);
        for (int root = 0; root < ranks; ++root) check_gather(&types[t], counts[c], root, in_place);
        for (int root = 0; root < ranks; ++root) check_scatter(&types[t], counts[c], root, in_place);
      }
      for (size_t o = 0; o < sizeof ops / sizeof *ops; ++o) {
        if (!defined(types[t].kind, ops[o]) || !known_to_be_right(&types[t], ops[o])) continue;
        check_reductions(&types[t], ops[o], counts[c]);
      }
    }
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
  }
  if (rank == 0) printf("every type: right on %d ranks\n", ranks);
  MPI_Finalize();
  return 0;
}
