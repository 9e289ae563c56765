// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared.hpp"

#include <cuda.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// Streams: each has a thread that takes its operations one after the other. All under the lock.
namespace chorus::test::doubles {

struct Capture;
struct Stream;

/// What the thread of a stream does. It holds the lock, and may let go of it meanwhile.
using Work = std::function<void(Lock&)>;
/// Makes the work of an operation: once when it is enqueued, or each time that its capture is replayed.
using Plan = std::function<Work()>;

/// The end of the first `operations` operations of a stream.
struct Point {
  std::shared_ptr<Stream> stream;
  std::uint64_t operations = 0;
};

struct Step {
  Work work;
  std::vector<Point> after;  ///< in other streams: what the legacy stream waits for, and is waited for
};

enum class StreamKind : std::uint8_t { blocking, non_blocking, legacy };

struct Stream {
  CUstream handle = nullptr;
  std::string name = {};
  CUcontext context = nullptr;
  int device = -1;
  StreamKind kind = StreamKind::blocking;
  bool destroyed = false;
  std::deque<Step> steps = {};
  std::condition_variable given;  ///< told of steps, and of its end
  std::uint64_t enqueued = 0;
  std::uint64_t completed = 0;
  std::shared_ptr<Capture> capture = nullptr;  ///< null: it is not capturing
};

/// What a stream is asked for: to say what it is, or to do something.
enum class StreamUse : std::uint8_t { look, work };
/// Finds the stream that `handle` means, which may be null or another special one, then of `device`; -1: of the current
/// one. Gives why it cannot be used, and records that it is unknown.
CUresult find_stream(const std::string& function, CUstream handle, StreamUse use, std::shared_ptr<Stream>& found,
                     int device = -1);

[[nodiscard]] std::shared_ptr<Stream> make_stream(int device, StreamKind kind);
/// The null stream of a device.
[[nodiscard]] std::shared_ptr<Stream> legacy_stream(int device);
/// The living streams of a context that wait for its legacy stream, and are waited for.
[[nodiscard]] std::vector<std::shared_ptr<Stream>> blocking_streams(CUcontext context);
/// Makes a stream known by its handle.
void remember_stream(const std::shared_ptr<Stream>& stream);
/// Forgets it; its operations go on.
void forget_stream(const std::shared_ptr<Stream>& stream);

/// Has an operation done, or captured.
void enqueue(const std::shared_ptr<Stream>& stream, const Plan& plan);
/// Has it done, also on a stream that is capturing.
void push(const std::shared_ptr<Stream>& stream, Work work);

/// Whether all is done that `stream` was given, and for the legacy stream, those that it waits for.
[[nodiscard]] bool is_idle(const Stream& stream);
/// Waits until all is done that it has been given until now.
void drain(Lock& lock, const std::shared_ptr<Stream>& stream);

}  // namespace chorus::test::doubles
