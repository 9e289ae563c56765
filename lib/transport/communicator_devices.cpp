// SPDX-License-Identifier: Apache-2.0
// What a communicator has for calls on devices, and how it hears of their failures.

#include "device/accelerator.hpp"
#include "device/device_native.hpp"
#include "device/find_devices.hpp"
#include "transport/communicator_state.hpp"
#include "transport/gathering.hpp"
#include "transport/shared_group.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace chorus::detail {

Task<> CommunicatorState::find_devices(Call call, std::unique_ptr<Accelerator> own) {
  co_await meet_in_memory(*transport_, call);
  Devices found = co_await chorus::find_devices(*transport_, std::move(own));
  notes_.push_back(found.note);
  if (settings_.log && rank() == 0) fmt::print(stderr, "chorus: {}\n", found.note);
  transport_->set_devices(std::move(found));
  watch_device_calls();
  choices = {};  // made without their pace
  tuning.reset();
}

Task<> CommunicatorState::split_devices(CommunicatorState* made, std::optional<int> color, int key) {
  DeviceNative* const native = transport_->device_native();
  if (native == nullptr) co_return;  // the new communicator finds them when it has to
  std::unique_ptr<DeviceNative> part = native->split(color, key);
  co_await DeviceNative::Connected(*part);
  if (!color) co_return;
  made->transport_->set_devices({.accelerator = Accelerator::of(transport_->accelerator()->device()),
                                 .native = std::move(part),
                                 .windows = nullptr,  // NCCL does most of what they are for
                                 .pace = {},
                                 .note = "device memory: NCCL, split off another communicator"});
  made->watch_device_calls();
}

void CommunicatorState::watch_device_calls() {
  DeviceNative* const native = transport_->device_native();
  if (native == nullptr) return;
  native->watch_others([this] { look_on_a_thread(); },
                       [this] {
                         Standing whole = Standing::whole;
                         standing_.compare_exchange_strong(whole, Standing::devices_failed);
                       });
}

void CommunicatorState::look_on_a_thread() const {
  if (!ready()) return;  // of one that was split off, which is being set up
  look_at_failures_of_node("the ranks disagree about a call; what others say shows which");
  for (int rank = 0; rank < transport_->size(); ++rank) {
    const std::string death = peers_->death_of(rank);
    if (!death.empty()) throw lost(rank, death);
  }
}

void CommunicatorState::check_devices() const {
  if (standing_.load(std::memory_order_acquire) != Standing::devices_failed) return;
  static_cast<void>(transport_->device_native()->is_ready());
}

void CommunicatorState::abandon_devices() noexcept {
  if (DeviceNative* const native = transport_->device_native()) native->abandon();
}

bool CommunicatorState::settle_devices() noexcept try {
  if (DeviceNative* const native = transport_->device_native()) native->settle();
  std::optional<Error> failure;
  try {
    check_devices();
    return true;
  } catch (const GivenUp& error) {
    failure = error;
  } catch (const Error& error) {
    failure = error;
    if (SharedGroup* const memory = transport_->node_memory()) {
      memory->publish_failure(static_cast<int>(error.code()), error.message());
    }
  }
  peers_->retire(failure->code());
  fmt::print(stderr,
             "chorus: rank {}: NCCL was aborted, and results of calls that were under way in streams are garbage: {}\n",
             rank(), failure->message());
  return false;
} catch (const std::exception&) {  // there is no memory, or nobody reads what is printed
  return false;
}

}  // namespace chorus::detail
