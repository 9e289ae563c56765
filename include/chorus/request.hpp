// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <memory>

namespace chorus {

namespace detail {
class PendingCall;
}

/// A nonblocking collective under way. Its buffers belong to it until `wait` returns or `test` gives true.
///
/// Order    requests of one communicator run in the order of their calls and may be waited for in any order.
///          Progress is made inside `test`, `wait` and every other call into chorus, on the calling thread.
class CHORUS_API Request {
 public:
  /// Already complete.
  Request() noexcept;
  explicit Request(std::unique_ptr<detail::PendingCall> call) noexcept;
  Request(Request&& other) noexcept;
  /// Waits for the request that is overwritten.
  Request& operator=(Request&& other) noexcept;
  /// Waits; an error of the collective is then lost, but the communicator stays broken and says so later.
  ~Request();

  /// True once the results may be read. Throws what the blocking call would throw, once.
  [[nodiscard]] bool test();
  /// Returns when the results may be read. Throws what the blocking call would throw, once.
  void wait();

 private:
  std::unique_ptr<detail::PendingCall> call_;
};

}  // namespace chorus
