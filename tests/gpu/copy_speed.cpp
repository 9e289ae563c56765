// SPDX-License-Identifier: Apache-2.0
// How fast the first device copies, by CUDA alone: what no collective on its memory can be faster than.
//   copy_speed    prints for each size the microseconds and GB/s within the device, to the host's pinned memory and
//   from
//                 it; a copy of N bytes within the device reads and writes them, and counts N
#include "device/test_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace {

using chorus::test::check;

constexpr std::size_t longest = std::size_t{64} << 20U;
constexpr int times = 20;

/// The least microseconds that what `copy` puts into the stream takes, alone.
double microseconds(CUstream stream, const std::function<CUresult()>& copy) {
  CUevent before = nullptr, after = nullptr;
  check(cuEventCreate(&before, CU_EVENT_DEFAULT));
  check(cuEventCreate(&after, CU_EVENT_DEFAULT));
  float best = 1e9F;
  for (int time = 0; time < times; ++time) {
    check(cuEventRecord(before, stream));
    check(copy());
    check(cuEventRecord(after, stream));
    check(cuEventSynchronize(after));
    float milliseconds = 0;
    check(cuEventElapsedTime(&milliseconds, before, after));
    best = std::min(best, milliseconds);
  }
  check(cuEventDestroy(before));
  check(cuEventDestroy(after));
  return 1000.0 * best;
}

void print_table() {
  const chorus::test::TestStream stream;
  const chorus::test::DeviceMemory one(longest), other(longest);
  const auto from = reinterpret_cast<CUdeviceptr>(one.data()), to = reinterpret_cast<CUdeviceptr>(other.data());
  void* host = nullptr;
  check(cuMemHostAlloc(&host, longest, CU_MEMHOSTALLOC_PORTABLE));
  fmt::print("{:<10} {:>22} {:>22} {:>22}\n", "# Size", "within the device", "to the host", "from the host");
  for (std::size_t bytes = 4; bytes <= longest; bytes *= 4) {
    fmt::print("{:<10}", bytes);
    for (const double us :
         {microseconds(stream.native(), [&] { return cuMemcpyDtoDAsync(to, from, bytes, stream.native()); }),
          microseconds(stream.native(), [&] { return cuMemcpyDtoHAsync(host, from, bytes, stream.native()); }),
          microseconds(stream.native(), [&] { return cuMemcpyHtoDAsync(to, host, bytes, stream.native()); })}) {
      fmt::print(" {:>11.2f} {:>10.2f}", us, static_cast<double>(bytes) / us / 1000);
    }
    fmt::print("\n");
  }
  check(cuMemFreeHost(host));
}

}  // namespace

int main() {
  check(cuInit(0));
  chorus::test::take_device(0);
  print_table();
}
