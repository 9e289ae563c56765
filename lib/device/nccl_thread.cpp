// SPDX-License-Identifier: Apache-2.0
#include "device/nccl_thread.hpp"

#include "device/cuda.hpp"
#include "device/nccl.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

namespace chorus {

NcclThread::NcclThread(CUcontext context, Work work) try
    : thread_([state = state_, context, work = std::move(work)] { call(*state, context, work); }) {
} catch (const std::system_error& error) {
  throw Error(ErrorCode::transport, fmt::format("the system starts no thread to wait for NCCL: {}", error.what()));
}

NcclThread::~NcclThread() {
  bool over = false;
  {
    const std::scoped_lock lock(state_->mutex);
    over = state_->over;
    state_->given_up = true;
    if (state_->made != nullptr) nccl().comm_abort(std::exchange(state_->made, nullptr));
  }
  if (over) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void NcclThread::call(State& state, CUcontext context, const Work& work) noexcept {
  {
    const std::scoped_lock lock(state.mutex);
    if (state.given_up) return;
    state.begun = true;
  }
  ncclComm_t made = nullptr;
  std::optional<Error> failure;
  try {
    const CurrentContext current(context);
    made = work();
  } catch (const Error& error) {
    failure = error;
  } catch (const std::exception& error) {
    failure.emplace(ErrorCode::transport, error.what());
  }
  const std::scoped_lock lock(state.mutex);
  state.over = true;
  state.failure = failure;
  if (made != nullptr && state.given_up) nccl().comm_abort(std::exchange(made, nullptr));
  state.made = made;
}

void NcclThread::let_enter() noexcept {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->given_up = true;
    if (!state_->begun) return;
  }
  wait_for(time_to_enter);
}

bool NcclThread::wait_for(std::chrono::milliseconds time) const {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!is_over()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool NcclThread::is_over() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->over;
}

ncclComm_t NcclThread::take() {
  const std::scoped_lock lock(state_->mutex);
  if (state_->failure) throw Error(*state_->failure);
  return std::exchange(state_->made, nullptr);
}

}  // namespace chorus
