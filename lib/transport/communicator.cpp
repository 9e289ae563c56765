// SPDX-License-Identifier: Apache-2.0
#include <chorus/communicator.hpp>

#include "transport/communicator_state.hpp"

#include <chorus/error.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace chorus {

Communicator::Communicator(std::shared_ptr<detail::CommunicatorState> state) noexcept : state_(std::move(state)) {}

int Communicator::rank() const noexcept { return state_->transport().rank(); }

int Communicator::size() const noexcept { return state_->transport().size(); }

void Communicator::revoke(const std::string& why) const {
  if (why.empty()) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("revoke on rank {}: argument why is empty; say what the other ranks shall be told", rank()));
  }
  state_->revoke(why);
}

void Communicator::set_purpose(const CallPurpose& purpose) const noexcept { state_->set_purpose(purpose); }

const CallPurpose& Communicator::purpose() const noexcept { return state_->purpose(); }

}  // namespace chorus
