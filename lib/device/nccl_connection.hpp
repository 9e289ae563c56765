// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/error.hpp>

#include <cuda.h>
#include <nccl.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace chorus {

/// A call that makes a communicator of NCCL's, on a thread of its own: it returns when all ranks have called.
///
/// Communicators that return at once (ncclConfig_t::blocking = 0) would need no thread here, but NCCL starts one for
/// each of their collectives.
class NcclConnection {
 public:
  /// Null in `made` where the call makes none for this rank.
  using Make = std::function<ncclResult_t(ncclComm_t* made)>;

  /// Throws Error{transport} where the system starts no thread.
  NcclConnection(CUcontext context, const Make& make);
  /// Where the call is not over, the thread stays, and aborts what it makes.
  ~NcclConnection();
  NcclConnection(const NcclConnection&) = delete;
  NcclConnection& operator=(const NcclConnection&) = delete;

  [[nodiscard]] bool is_over() const;
  /// What the call has made, once it is over. Throws Error{transport} where it has failed.
  [[nodiscard]] ncclComm_t take();

 private:
  struct State {
    std::mutex mutex;
    bool over = false;
    bool given_up = false;
    ncclComm_t made = nullptr;
    std::optional<Error> failure;
  };
  static void call(State& state, CUcontext context, const Make& make) noexcept;

  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::thread thread_;
};

}  // namespace chorus
