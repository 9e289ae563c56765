// SPDX-License-Identifier: Apache-2.0
//
// hdf5_file PATH: all ranks write rows of one data set together, and read those of their neighbours back.
#include "check.h"

#include <hdf5.h>

enum { rows_each = 8, columns = 1000 };

static int rank, ranks;

static void select_rows(hid_t space, int of) {
  const hsize_t start[2] = {(hsize_t)of * rows_each, 0};
  const hsize_t count[2] = {rows_each, columns};
  CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(argc == 2);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  const hid_t together = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  CHECK(file >= 0);
  const hsize_t whole[2] = {(hsize_t)ranks * rows_each, columns};
  const hsize_t part[2] = {rows_each, columns};
  const hid_t of_file = H5Screate_simple(2, whole, NULL);
  const hid_t of_memory = H5Screate_simple(2, part, NULL);
  static double data[rows_each][columns];
  for (int set = 0; set < 10; ++set) {
    char name[16];
    snprintf(name, sizeof name, "set %d", set);
    const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, of_file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int row = 0; row < rows_each; ++row) {
      for (int column = 0; column < columns; ++column) data[row][column] = 1e6 * rank + 1e3 * row + column + set;
    }
    select_rows(of_file, rank);
    CHECK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, of_memory, of_file, together, data) >= 0);
    CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    const int neighbour = (rank + 1) % ranks;
    select_rows(of_file, neighbour);
    CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, of_memory, of_file, together, data) >= 0);
    for (int row = 0; row < rows_each; ++row) {
      for (int column = 0; column < columns; ++column) {
        CHECK(data[row][column] == 1e6 * neighbour + 1e3 * row + column + set);
      }
    }
    H5Dclose(dataset);
  }
  H5Sclose(of_memory);
  H5Sclose(of_file);
  H5Fclose(file);
  H5Pclose(together);
  H5Pclose(access);
  if (rank == 0) printf("hdf5: right on %d ranks\n", ranks);
  MPI_Finalize();
  return 0;
}
