// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of chorus, and the collectives with blocks of different lengths: some empty, out of
// order and with gaps between them, of basic types and of its own, which each rank may spell in its way, in place and
// not.
#include "call_forms.h"
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { gap = 3, untouched = -7 };

static int rank, ranks;
static MPI_Datatype sparse;  // an int and a hole of the same size

// How the blocks of a buffer of ints lie: that of rank r at places[r], in elements of `type`, each `stride` ints long.
struct layout {
  MPI_Datatype type;
  int stride;
  count_type* counts;
  displacement_type* places;
  int length;  // of the buffer
};

// Block r holds length(r) ints; the last rank's block comes first.
static struct layout layout_of(bool is_sparse, int (*length)(int of, int scale), int scale) {
  struct layout layout = {is_sparse ? sparse : MPI_INT, is_sparse ? 2 : 1, NULL, NULL, 0};
  layout.counts = malloc(sizeof *layout.counts * (size_t)ranks);
  layout.places = malloc(sizeof *layout.places * (size_t)ranks);
  int place = 1;
  for (int of = ranks - 1; of >= 0; --of) {
    layout.counts[of] = length(of, scale);
    layout.places[of] = layout.counts[of] > 0 ? place : 1 << 20;  // of no meaning where there is nothing
    place += layout.counts[of] + gap;
  }
  layout.length = layout.stride * place;
  return layout;
}

static void discard(struct layout* layout) {
  free(layout->counts);
  free(layout->places);
}

static int* buffer_of(int length) {
  int* data = malloc(sizeof(int) * (size_t)length + 1);
  for (int index = 0; index < length; ++index) data[index] = untouched;
  return data;
}

// What `from` gives to `to` at `index`.
static int value(int from, int to, int index) { return 1000000 * from + 100000 * to + index; }

static int* place_of(const struct layout* layout, int* data, int of, int index) {
  return &data[layout->stride * (layout->places[of] + index)];
}

static void put_block(const struct layout* layout, int* data, int of, int from, int to) {
  for (int index = 0; index < layout->counts[of]; ++index) {
    *place_of(layout, data, of, index) = value(from, to, index);
  }
}

// Block r comes from rank r, for `to` or for this rank; clears what is right, so that what is left must be untouched.
static void check_blocks(const struct layout* layout, int* data, int to) {
  for (int of = 0; of < ranks; ++of) {
    for (int index = 0; index < layout->counts[of]; ++index) {
      int* const found = place_of(layout, data, of, index);
      CHECK(*found == value(of, to, index));
      *found = untouched;
    }
  }
  for (int index = 0; index < layout->length; ++index) CHECK(data[index] == untouched);
}

static int* own_block(int count, int stride, int to) {
  int* data = buffer_of(count * stride);
  for (int index = 0; index < count; ++index) data[index * stride] = value(rank, to, index);
  return data;
}

static int growing(int of, int scale) { return (of * scale + (of % 2)) * (of != 2); }  // ranks 0 and 2 have nothing
static int exchanged(int of, int scale) { return (rank + 2 * of) % 3 * scale; }
static int exchanged_back(int of, int scale) { return (of + 2 * rank) % 3 * scale; }
static int symmetric(int of, int scale) { return (rank + of) % 3 * scale; }

static void check_allgatherv(bool sends_sparse, bool gets_sparse, int scale, bool in_place) {
  struct layout layout = layout_of(gets_sparse, growing, scale);
  int* out = buffer_of(layout.length);
  const int count = layout.counts[rank];
  int* in = own_block(count, sends_sparse ? 2 : 1, 0);
  if (in_place) put_block(&layout, out, rank, rank, 0);
  CHECK(MPI_Allgatherv(in_place ? MPI_IN_PLACE : in, in_place ? 0 : count,
                       in_place       ? MPI_DATATYPE_NULL
                       : sends_sparse ? sparse
                                      : MPI_INT,
                       out, layout.counts, layout.places, layout.type, MPI_COMM_WORLD) == MPI_SUCCESS);
  check_blocks(&layout, out, 0);
  free(in);
  free(out);
  discard(&layout);
}

static void check_gatherv(bool sends_sparse, bool gets_sparse, int scale, int root, bool in_place) {
  struct layout layout = layout_of(gets_sparse, growing, scale);
  const bool is_root = rank == root;
  const bool stays = is_root && in_place;
  int* out = is_root ? buffer_of(layout.length) : NULL;
  int* in = own_block(layout.counts[rank], sends_sparse ? 2 : 1, root);
  if (stays) put_block(&layout, out, rank, rank, root);
  CHECK(MPI_Gatherv(stays ? MPI_IN_PLACE : in, stays ? 0 : layout.counts[rank],
                    stays          ? MPI_DATATYPE_NULL
                    : sends_sparse ? sparse
                                   : MPI_INT,
                    out, is_root ? layout.counts : NULL, is_root ? layout.places : NULL,
                    is_root ? layout.type : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD) == MPI_SUCCESS);
  if (is_root) check_blocks(&layout, out, root);
  free(in);
  free(out);
  discard(&layout);
}

static void check_scatterv(bool sends_sparse, bool gets_sparse, int scale, int root, bool in_place) {
  struct layout layout = layout_of(sends_sparse, growing, scale);
  const bool is_root = rank == root;
  const bool stays = is_root && in_place;
  const int count = layout.counts[rank];
  const int stride = gets_sparse ? 2 : 1;
  int* in = is_root ? buffer_of(layout.length) : NULL;
  int* out = buffer_of(stride * count);
  for (int of = 0; of < ranks && is_root; ++of) put_block(&layout, in, of, root, of);
  CHECK(MPI_Scatterv(in, is_root ? layout.counts : NULL, is_root ? layout.places : NULL,
                     is_root ? layout.type : MPI_DATATYPE_NULL, stays ? MPI_IN_PLACE : out, stays ? 0 : count,
                     stays         ? MPI_DATATYPE_NULL
                     : gets_sparse ? sparse
                                   : MPI_INT,
                     root, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int index = 0; index < stride * count; ++index) {
    const bool written = !stays && index % stride == 0;
    CHECK(out[index] == (written ? value(root, rank, index / stride) : untouched));
  }
  for (int of = 0; of < ranks && is_root; ++of) {
    for (int index = 0; index < layout.counts[of]; ++index) {
      CHECK(*place_of(&layout, in, of, index) == value(root, of, index));
    }
  }
  free(in);
  free(out);
  discard(&layout);
}

static void check_alltoallv(bool sends_sparse, bool gets_sparse, int scale, bool in_place) {
  struct layout from = layout_of(in_place ? gets_sparse : sends_sparse, in_place ? symmetric : exchanged, scale);
  struct layout to = layout_of(gets_sparse, in_place ? symmetric : exchanged_back, scale);
  int* in = buffer_of(from.length);
  int* out = buffer_of(to.length);
  for (int of = 0; of < ranks; ++of) put_block(&from, in_place ? out : in, of, rank, of);
  CHECK(MPI_Alltoallv(in_place ? MPI_IN_PLACE : in, in_place ? NULL : from.counts, in_place ? NULL : from.places,
                      in_place ? MPI_DATATYPE_NULL : from.type, out, to.counts, to.places, to.type,
                      MPI_COMM_WORLD) == MPI_SUCCESS);
  check_blocks(&to, out, rank);
  free(in);
  free(out);
  discard(&from);
  discard(&to);
}

// The blocks of ranks with an odd number are sparse, where `mixed`.
static struct layout typed(struct layout layout, MPI_Datatype* types, displacement_type* bytes, bool mixed) {
  layout.stride = 1;
  int place = 1;
  for (int of = 0; of < ranks; ++of) {
    const bool is_sparse = mixed && of % 2 == 1;
    types[of] = layout.counts[of] > 0 ? is_sparse ? sparse : MPI_INT : MPI_INT;
    layout.places[of] = place;
    bytes[of] = place * (int)sizeof(int);
    place += layout.counts[of] * (is_sparse ? 2 : 1) + gap;
  }
  layout.length = place;
  return layout;
}

static void check_alltoallw(bool sends_mixed, bool gets_mixed, int scale, bool in_place) {
  MPI_Datatype* types = malloc(2 * sizeof *types * (size_t)ranks);
  displacement_type* bytes = malloc(2 * sizeof *bytes * (size_t)ranks);
  struct layout from = typed(layout_of(false, in_place ? symmetric : exchanged, scale), types, bytes,
                             in_place ? gets_mixed : sends_mixed);
  struct layout to =
      typed(layout_of(false, in_place ? symmetric : exchanged_back, scale), types + ranks, bytes + ranks, gets_mixed);
  int* in = buffer_of(from.length);
  int* out = buffer_of(to.length);
  int* given = in_place ? out : in;
  for (int of = 0; of < ranks; ++of) {
    const int stride = types[of] == sparse ? 2 : 1;
    for (int index = 0; index < from.counts[of]; ++index)
      given[from.places[of] + stride * index] = value(rank, of, index);
  }
  CHECK(MPI_Alltoallw(in_place ? MPI_IN_PLACE : in, in_place ? NULL : from.counts, in_place ? NULL : bytes,
                      in_place ? NULL : types, out, to.counts, bytes + ranks, types + ranks,
                      MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int of = 0; of < ranks; ++of) {
    const int stride = types[ranks + of] == sparse ? 2 : 1;
    for (int index = 0; index < to.counts[of]; ++index) {
      int* const found = &out[to.places[of] + stride * index];
      CHECK(*found == value(of, rank, index));
      *found = untouched;
    }
  }
  for (int index = 0; index < to.length; ++index) CHECK(out[index] == untouched);
  free(in);
  free(out);
  free(types);
  free(bytes);
  discard(&from);
  discard(&to);
}

// `parts` numbers an element: two in a complex one.
static void check_reduce_scatter(MPI_Datatype type, int parts, int scale, bool in_place) {
  struct layout layout = layout_of(false, growing, scale);
  int all = 0, before = 0;
  for (int of = 0; of < ranks; ++of) {
    if (of == rank) before = all;
    all += parts * layout.counts[of];
  }
  const int own = parts * layout.counts[rank];
  double* in = malloc(sizeof(double) * (size_t)all + 1);
  double* out = malloc(sizeof(double) * (size_t)(in_place ? all : own) + 1);
  for (int index = 0; index < all; ++index) (in_place ? out : in)[index] = rank + 2 * index;
  CHECK(MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : in, out, layout.counts, type, MPI_SUM, MPI_COMM_WORLD) ==
        MPI_SUCCESS);
  for (int index = 0; index < own; ++index) {
    CHECK(out[index] == ranks * (ranks - 1) / 2 + 2 * ranks * (before + index));
  }
  free(in);
  free(out);
  discard(&layout);
}

// The rank's own block lies between those that it gets, which MPI allows.
static void check_blocks_between(void) {
  count_type* counts = malloc(sizeof *counts * (size_t)ranks);
  displacement_type* places = malloc(sizeof *places * (size_t)ranks);
  int* out = buffer_of(3 * ranks);
  for (int of = 0; of < ranks; ++of) {
    counts[of] = 1;
    places[of] = 3 * of;
    out[3 * of + 1] = rank;
  }
  CHECK(MPI_Allgatherv(&out[1], 1, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
  for (int of = 0; of < ranks; ++of)
    CHECK(out[3 * of] == of && out[3 * of + 1] == rank && out[3 * of + 2] == untouched);
  for (int root = 0; root < ranks; ++root) {
    CHECK(MPI_Gatherv(&out[1], 1, MPI_INT, out, counts, places, MPI_INT, root, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Scatterv(out, counts, places, MPI_INT, &out[1], 1, MPI_INT, root, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(out[1] == rank);
    for (int of = 0; of < ranks; ++of) CHECK(out[3 * of] == of);
  }
  free(counts);
  free(places);
  free(out);
}

// The first bytes of what each rank gives, `each` from each.
static void check_bytes(const unsigned char* data, const displacement_type* places, int each) {
  for (int of = 0; of < ranks; ++of) {
    for (int index = 0; index < each; ++index) CHECK(data[places[of] + index] == 16 * of + index);
  }
}

// The same counts and displacements again with elements of another length: of a basic type, and of one that the program
// has made, whose handle may be that of one made before.
static void check_other_types(void) {
  enum { most = 8 };
  count_type* counts = malloc(sizeof *counts * (size_t)ranks);
  displacement_type* places = malloc(sizeof *places * (size_t)ranks);
  MPI_Datatype* types = malloc(sizeof *types * (size_t)ranks);
  unsigned char own[16 * most], all[16 * most];
  for (int of = 0; of < ranks; ++of) counts[of] = 1, places[of] = 16 * of;
  for (int index = 0; index < 16; ++index) {
    for (int to = 0; to < ranks; ++to) own[16 * to + index] = (unsigned char)(16 * rank + index);
  }
  CHECK(ranks <= most);
  const MPI_Datatype basic[] = {MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_BYTE};
  const int lengths[] = {sizeof(short), sizeof(int), sizeof(double), 1};
  for (int made = 0; made < 2; ++made) {
    for (int turn = 0; turn < 4; ++turn) {
      MPI_Datatype type = basic[turn];
      if (made) {
        MPI_Type_contiguous(lengths[turn], MPI_BYTE, &type);
        MPI_Type_commit(&type);
      }
      for (int of = 0; of < ranks; ++of) types[of] = type;
      memset(all, 255, sizeof all);
      CHECK(MPI_Alltoallw(own, counts, places, types, all, counts, places, types, MPI_COMM_WORLD) == MPI_SUCCESS);
      check_bytes(all, places, lengths[turn]);
      if (made) MPI_Type_free(&type);
    }
  }
  free(counts);
  free(places);
  free(types);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Datatype number;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &number);
  MPI_Type_dup(number, &sparse);
  MPI_Type_free(&number);
  MPI_Type_commit(&sparse);
  for (int turn = 0; turn < 20; ++turn) MPI_Barrier(MPI_COMM_WORLD);  // chorus leaves the first calls to MPI
  const int scales[] = {0, 1, 40, 9000};
  for (size_t s = 0; s < sizeof scales / sizeof *scales; ++s) {
    for (int variant = 0; variant < 16; ++variant) {
      // Even where `mixed`, all ranks give and get the same numbers: some spell them otherwise.
      const bool mixed = variant & 1;
      const bool sends_sparse = (variant & 2) != 0 && (!mixed || rank % 2 == 0);
      const bool gets_sparse = (variant & 4) != 0 && (!mixed || rank % 2 == 1);
      const bool in_place = (variant & 8) != 0;
      check_allgatherv(sends_sparse, gets_sparse, scales[s], in_place);
      check_alltoallv(sends_sparse, gets_sparse, scales[s], in_place);
      check_alltoallw(sends_sparse, gets_sparse, scales[s], in_place);
      check_reduce_scatter(MPI_DOUBLE, 1, scales[s], in_place);
      check_reduce_scatter(MPI_C_DOUBLE_COMPLEX, 2, scales[s], in_place);
      for (int root = 0; root < ranks; ++root) {
        check_gatherv(sends_sparse, gets_sparse, scales[s], root, in_place);
        check_scatterv(sends_sparse, gets_sparse, scales[s], root, in_place);
      }
    }
  }
  check_blocks_between();
  check_other_types();
  MPI_Type_free(&sparse);
  if (rank == 0) printf("every layout: right on %d ranks\n", ranks);
  MPI_Finalize();
  return 0;
}
