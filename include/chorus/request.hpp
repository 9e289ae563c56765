// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

namespace chorus {

namespace detail {
class PendingCall;
}

/// A nonblocking collective under way. Its buffers belong to it until it has ended: until `wait` has returned, `test`
/// has given true, or either has thrown the error it ended with. Each later `test` and `wait` then throws that again.
///
/// Order    requests of one communicator run in the order of their calls and may be waited for in any order.
///          Progress is made inside `test`, `wait` and every other call into chorus, on the calling thread; with
///          CHORUS_PROGRESS_THREAD=1 also on a thread of chorus's own, while the program computes. Without it a short
///          call, which has given its data when it starts, may make its result not before its own `test` or `wait`.
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

  /// True once the results may be read. Throws what the blocking call would throw.
  [[nodiscard]] bool test();
  /// Returns when the results may be read. Throws what the blocking call would throw.
  void wait();
  /// False once `test` or `wait` has told how it ended, well or not: nothing is left to wait for.
  [[nodiscard]] bool pending() const noexcept;

 private:
  friend CHORUS_API std::optional<std::size_t> wait_any(std::span<Request> requests);
  std::unique_ptr<detail::PendingCall> call_;
};

/// Waits for each of `requests`, of any communicators, in their order. Throws what the first one throws that has
/// failed, now or before; those behind it may then still be pending.
CHORUS_API void wait_all(std::span<Request> requests);

/// Waits until one of the pending `requests` has ended, and gives its place; none where nothing is pending. Throws what
/// that request's `wait` would throw.
[[nodiscard]] CHORUS_API std::optional<std::size_t> wait_any(std::span<Request> requests);

/// A collective prepared once, to be started again and again with the same buffers (made by `..._init`).
///
/// Order    between `start` and the end of its wait it is a Request like others: every rank starts it in the same order
///          among the collectives of the communicator.
class CHORUS_API PersistentRequest {
 public:
  explicit PersistentRequest(std::unique_ptr<detail::PendingCall> call) noexcept;
  PersistentRequest(PersistentRequest&& other) noexcept;
  /// Waits for the request that is overwritten.
  PersistentRequest& operator=(PersistentRequest&& other) noexcept;
  /// Waits, as ~Request.
  ~PersistentRequest();

  /// Starts it; the buffers belong to it until it has ended. Throws Error{invalid_argument} while it is under way, or
  /// after it was moved from, and what a call throws that begins: Error{broken} where it has broken its communicator.
  void start();
  /// As Request::test, Request::wait and Request::pending; complete before the first start.
  [[nodiscard]] bool test();
  void wait();
  [[nodiscard]] bool pending() const noexcept;

 private:
  friend CHORUS_API std::optional<std::size_t> wait_any(std::span<PersistentRequest> requests);
  std::unique_ptr<detail::PendingCall> call_;
};

/// Starts each of `requests`, in their order, which is the same on every rank.
CHORUS_API void start_all(std::span<PersistentRequest> requests);

/// As of Request; those that are not started are complete.
CHORUS_API void wait_all(std::span<PersistentRequest> requests);
[[nodiscard]] CHORUS_API std::optional<std::size_t> wait_any(std::span<PersistentRequest> requests);

}  // namespace chorus
