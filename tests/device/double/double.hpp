// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

struct ncclComm;

// What a test sets and reads of the doubles of CUDA's driver and of NCCL: libchorus_cuda_double.so, and
// libchorus_nccl_double.so where that is said. Devices are pretended in this process; ranks are its threads. All
// functions may be called on any thread.
namespace chorus::test {

/// One call of an exported function, as it was made.
struct DeviceCall {
  std::string function;          ///< "cuMemcpyAsync", "ncclAllReduce"; versions are left out: "cuMemAlloc"
  std::string label = {};        ///< of the calling thread
  int device = -1;               ///< the communicator's, or the current one; -1: none
  int result = 0;                ///< the CUresult or ncclResult_t it returned, -1 while it runs
  const void* stream = nullptr;  ///< as it was passed
  std::size_t count = 0;         ///< elements, of an operation of NCCL
  std::size_t bytes = 0;
  std::string type = {};  ///< "float32", "bfloat16", ...
  std::string op = {};    ///< "sum", "prod", "max", "min", "avg", "premulsum"
  int peer = -1;          ///< root or peer
  int communicator = -1;  ///< the same number on all its ranks
  int rank = -1;          ///< in the communicator
  int group_depth = 0;    ///< of ncclGroupStart
};
/// "rank 1: ncclReduce on device 1, 8 float32 sum, peer 0, communicator 2, in a group: 0"; what is none is left out.
[[nodiscard]] std::string text(const DeviceCall& call);

/// All calls since `clear`, in the order in which they were begun.
[[nodiscard]] std::vector<DeviceCall> calls();
/// Those of one function.
[[nodiscard]] std::vector<DeviceCall> calls(const std::string& function);

/// What was done since `clear` that a real library need not notice, but hangs, crashes or gives wrong data after. Also
/// tells of a group of the calling thread that is still open.
[[nodiscard]] std::vector<std::string> faults();

/// Names the calling thread in calls and faults.
void set_label(const std::string& label);

/// Forgets calls, faults and failures to come, and sets everything below to what it is at first. What lives stays.
/// Stalled ncclCommInitRankConfig with blocking=1 end.
void clear();

/// What has been made and not been destroyed.
struct Leaks {
  int device_allocations = 0;
  int host_allocations = 0;
  int streams = 0;
  int events = 0;
  int retained_contexts = 0;
  int modules = 0;
  int opened_memory = 0;  ///< by cuIpcOpenMemHandle
  int communicators = 0;
  int reduce_ops = 0;
  bool operator==(const Leaks&) const = default;
};
[[nodiscard]] Leaks leaks();

/// The process that the calling thread pretends to be in, for cuIpc...; at first all threads are in 0.
void set_process(int process);
/// Whether devices reach one another, as cuDeviceCanAccessPeer says it. At first they do.
void set_peer_access(bool reach);

/// How many devices there are, 1 to 16, or 0, of which cuInit complains. At first 8, or as DEVICE_DOUBLE_DEVICES says.
/// CUDA_VISIBLE_DEVICES, a list of their numbers, leaves some of them, in its order.
void set_device_count(int count);
/// CUDA's version as cuDriverGetVersion says it. At first CUDA_VERSION.
void set_driver_version(int version);
/// How long each operation of a stream rests before it takes effect. At first 200 us, or as DEVICE_DOUBLE_DELAY_US
/// says.
void set_delay(std::chrono::microseconds delay);
/// How much longer kernels take on one of the devices. At first they take no longer than other operations.
void set_kernel_delay(int device, std::chrono::microseconds delay);
/// How much longer copies to and from the host take. At first they take no longer than other operations.
void set_copy_delay(std::chrono::microseconds delay);
/// Until the next cuInit, functions refuse as before the first.
void forget_initialization();

struct DeviceIdentity {
  std::string name;
  std::string pci_bus_id;
  std::string uuid;  ///< 16 bytes
  std::size_t memory_bytes = 0;
};
/// By the number that CUDA gives it.
[[nodiscard]] DeviceIdentity device_identity(int device);
/// By the number that it has where all can be seen.
void set_device_identity(int device, const DeviceIdentity& identity);

/// A call that is to fail, without effect.
struct Failure {
  std::string function;  ///< as in DeviceCall
  int result = 0;        ///< CUresult or ncclResult_t
  int device = -1;       ///< as in DeviceCall; -1: any
  int nth = 1;           ///< from now, counting the calls that `function` and `device` fit
  int times = 1;         ///< that one and those that follow it
};
void inject(const Failure& failure);

/// Where the bytes of device memory lie in this process, for a test to read and write them without a stream. The
/// address that CUDA gives is not to be read or written: that ends the process, as it does with real devices.
/// Throws: std::invalid_argument where `address` is in no allocation.
[[nodiscard]] std::byte* device_bytes(CUdeviceptr address);

/// global: cuMemAlloc, cuMemHostAlloc, what frees, and queries of any event are refused while it lasts, in any thread.
enum class CaptureMode : std::uint8_t { global, relaxed };
/// What cudaStreamBeginCapture does: operations are kept for `replay` and not executed. A stream that waits for an
/// event of a capturing one takes part.
void begin_capture(CUstream stream, CaptureMode mode = CaptureMode::global);
/// CUDA_SUCCESS, or why there is nothing to replay: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, ..._UNJOINED, ..._UNMATCHED.
CUresult end_capture(CUstream stream);
/// Enqueues what was captured last on `stream`, on the streams where it was, as often as it is called. Gives
/// how many operations these are.
std::size_t replay(CUstream stream);

// Of libchorus_nccl_double.so:

/// As ncclGetVersion says it. At first NCCL_VERSION_CODE.
void set_nccl_version(int version);
/// ncclCommInitRankConfig on `device` does not reach the others from now on: all ranks wait.
void set_never_arrives(int device);
/// On communicators with blocking=0, operations return ncclInProgress, and are enqueued by an ncclCommGetAsyncError
/// some delays later.
void set_slow_launch(bool slow);
/// On communicators with blocking=1, operations do not return before these are aborted, as where NCCL connects ranks of
/// which one does not come.
void set_stalls(bool stalls);

/// ncclCommAbort does not return before nothing is under way on its device in other communicators, as where it frees
/// memory there.
void set_abort_waits(bool waits);

struct CommunicatorInfo {
  int communicator = -1;  ///< as in DeviceCall
  int rank = -1;
  int ranks = 0;
  int device = -1;
  ncclComm* handle = nullptr;
};
/// Those that live, the oldest first.
[[nodiscard]] std::vector<CommunicatorInfo> communicators();
/// ncclCommGetAsyncError of `rank` gives `result` from now on; operations that have not moved their data never will.
void set_async_error(int communicator, int rank, int result);

}  // namespace chorus::test
