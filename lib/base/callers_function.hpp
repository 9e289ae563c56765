// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace chorus {

/// While it lives this thread is inside a function of the caller's.
class CallersFunction {
 public:
  CallersFunction() noexcept { ++depth_; }
  CallersFunction(const CallersFunction&) = delete;
  CallersFunction& operator=(const CallersFunction&) = delete;
  ~CallersFunction() { --depth_; }

  /// True where the calling thread is inside one.
  [[nodiscard]] static bool here() noexcept { return depth_ > 0; }
  /// Throws Error{function_threw} with what the exception being handled says, which the function has thrown.
  [[noreturn]] static void report();

 private:
  [[gnu::tls_model("initial-exec")]] static thread_local constinit int depth_;
};

}  // namespace chorus
