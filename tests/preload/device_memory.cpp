// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of chorus, and gives MPI memory of GPUs as programs do whose MPI takes it: on every
// second rank. The devices are pretended by the double of CUDA's driver, whose memory ends a program that reads it
// itself.
#include "device/double/double.hpp"

#include <cuda.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

namespace {

int rank = 0, ranks = 0;

[[noreturn]] void end(const char* what) {
  std::fprintf(stderr, "rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// Whole numbers in memory of the host, or on every second rank of a device.
class Numbers {
 public:
  explicit Numbers(const std::vector<int>& content) : host_(content) {
    if (rank % 2 == 0 || content.empty()) return;
    if (cuMemAlloc(&device_, bytes()) != CUDA_SUCCESS) end("no memory of the device");
    std::memcpy(chorus::test::device_bytes(device_), host_.data(), bytes());
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  ~Numbers() {
    if (device_ != 0) cuMemFree(device_);
  }
  [[nodiscard]] void* data() { return device_ != 0 ? reinterpret_cast<void*>(device_) : host_.data(); }
  void expect(const std::vector<int>& content, const char* what) {
    if (device_ != 0) std::memcpy(host_.data(), chorus::test::device_bytes(device_), bytes());
    if (host_ != content) end(what);
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return host_.size() * sizeof(int); }

  std::vector<int> host_;
  CUdeviceptr device_ = 0;
};

using Values = std::vector<int>;

/// `count` elements for each rank: those of rank `of` are of(rank, number).
Values for_all(int count, const std::function<int(int, int)>& of) {
  Values values;
  for (int other = 0; other < ranks; ++other) {
    for (int number = 0; number < count; ++number) values.push_back(of(other, number));
  }
  return values;
}

int value(int from, int to, int number) { return 10'000 * from + 100 * to + number % 97; }

void reductions(int count) {
  const int sum_of_ranks = ranks * (ranks - 1) / 2;
  const Values mine(static_cast<std::size_t>(count), rank), sums(static_cast<std::size_t>(count), sum_of_ranks);
  Numbers in(mine), out(Values(mine.size(), -1)), inout(mine), scanned(mine);
  MPI_Allreduce(in.data(), out.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  out.expect(sums, "allreduce");
  MPI_Allreduce(MPI_IN_PLACE, inout.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  inout.expect(sums, "allreduce in place");
  Numbers at_root(Values(mine.size(), -1));
  MPI_Reduce(in.data(), at_root.data(), count, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
  if (rank == ranks - 1) at_root.expect(sums, "reduce");
  MPI_Scan(MPI_IN_PLACE, scanned.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  scanned.expect(Values(mine.size(), rank * (rank + 1) / 2), "scan");
  Numbers all(for_all(count, [](int other, int) { return other + rank; })), block(Values(mine.size(), -1));
  MPI_Reduce_scatter_block(all.data(), block.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  block.expect(Values(mine.size(), ranks * rank + sum_of_ranks), "reduce_scatter_block");
}

void movements(int count) {
  const int root = ranks - 1;
  const auto from_all = [&](int to) { return for_all(count, [to](int from, int i) { return value(from, to, i); }); };
  const auto to_all = [&](int from) { return for_all(count, [from](int to, int i) { return value(from, to, i); }); };
  Values mine, from_root;
  for (int number = 0; number < count; ++number) {
    mine.push_back(value(rank, 0, number));
    from_root.push_back(value(root, rank, number));
  }
  Numbers own(mine), gathered(for_all(count, [](int, int) { return -1; }));
  MPI_Allgather(own.data(), count, MPI_INT, gathered.data(), count, MPI_INT, MPI_COMM_WORLD);
  gathered.expect(from_all(0), "allgather");
  Numbers given(to_all(rank)), got(for_all(count, [](int, int) { return -1; }));
  MPI_Alltoall(given.data(), count, MPI_INT, got.data(), count, MPI_INT, MPI_COMM_WORLD);
  got.expect(from_all(rank), "alltoall");
  Numbers part(Values(mine.size(), -1)), of_root(to_all(root)), again(for_all(count, [](int, int) { return -1; }));
  MPI_Scatter(of_root.data(), count, MPI_INT, part.data(), count, MPI_INT, root, MPI_COMM_WORLD);
  part.expect(from_root, "scatter");
  MPI_Gather(own.data(), count, MPI_INT, again.data(), count, MPI_INT, root, MPI_COMM_WORLD);
  if (rank == root) again.expect(from_all(0), "gather");
  Numbers told(rank == root ? to_all(root) : for_all(count, [](int, int) { return -1; }));
  MPI_Bcast(told.data(), count * ranks, MPI_INT, root, MPI_COMM_WORLD);
  told.expect(to_all(root), "bcast");
  const Values counts(static_cast<std::size_t>(ranks), count);
  Values places(counts.size(), 0);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  Numbers exchanged(for_all(count, [](int, int) { return -1; }));
  MPI_Alltoallv(given.data(), counts.data(), places.data(), MPI_INT, exchanged.data(), counts.data(), places.data(),
                MPI_INT, MPI_COMM_WORLD);
  exchanged.expect(from_all(rank), "alltoallv");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) end("no device");
  cuCtxSetCurrent(context);
  int none = 0;
  // The first calls are MPI's, which takes no such memory here.
  for (int call = 0; call < 20; ++call) MPI_Allreduce(MPI_IN_PLACE, &none, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (const int count : {1, 30, 5'000, 100'000}) {
    reductions(count);
    movements(count);
  }
  if (rank == 0) std::printf("right on %d ranks\n", ranks);
  MPI_Finalize();
}
