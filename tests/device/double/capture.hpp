// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "double.hpp"
#include "streams.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

// Streams whose operations are kept for replay. All under the lock.
namespace chorus::test::doubles {

struct Captured {
  std::shared_ptr<Stream> stream;
  Plan plan;
};

/// What is captured from `begin_capture` to `end_capture`.
struct Capture {
  CaptureMode mode = CaptureMode::global;
  std::shared_ptr<Stream> origin = nullptr;
  std::vector<Captured> operations = {};
  bool invalidated = false;
  bool ended = false;
  /// How many operations each stream has, and how many of them were waited for by another.
  struct Progress {
    std::uint64_t operations = 0;
    std::uint64_t joined = 0;
  };
  std::map<std::shared_ptr<Stream>, Progress> progress = {};
};

/// `stream` is capturing.
void add_to_capture(const std::shared_ptr<Stream>& stream, const Plan& plan);
/// A stream that waits for captured work takes part.
void join_capture(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Capture>& capture);

/// As cuThreadExchangeStreamCaptureMode has set it.
[[nodiscard]] CUstreamCaptureMode& mode_of_this_thread();
/// Whether a capture is under way that forbids calls which could spoil it; then it has.
[[nodiscard]] bool refuses_unsafe_calls();
/// Spoils the captures of the streams of a context.
void invalidate_captures(CUcontext context);

}  // namespace chorus::test::doubles
