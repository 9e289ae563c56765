// SPDX-License-Identifier: Apache-2.0
#include "base/last_error.hpp"

#include <chorus/error.hpp>

namespace chorus {
namespace {

thread_local std::string last_made;

}  // namespace

const char* name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::invalid_environment:
      return "invalid_environment";
    case ErrorCode::not_supported:
      return "not_supported";
    case ErrorCode::not_initialized:
      return "not_initialized";
    case ErrorCode::mismatch:
      return "mismatch";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::peer_lost:
      return "peer_lost";
    case ErrorCode::broken:
      return "broken";
    case ErrorCode::transport:
      return "transport";
    case ErrorCode::function_threw:
      return "function_threw";
    case ErrorCode::revoked:
      return "revoked";
    case ErrorCode::not_built:
      return "not_built";
    case ErrorCode::wrong_context:
      return "wrong_context";
  }
  return "unknown";
}

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error("chorus: " + message + " [" + name(code) + "]"), code_(code), message_(message) {
  last_made = message;
}

const std::string& last_error() noexcept { return last_made; }

}  // namespace chorus
