// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "streams.hpp"

#include <cstdint>
#include <memory>

namespace chorus::test::doubles {

/// The place in a stream at which an event was recorded.
struct Mark {
  bool reached = false;
  bool captured = false;
  std::weak_ptr<Capture> capture = {};  ///< of which it is part
  std::shared_ptr<Stream> stream = nullptr;
  std::uint64_t operations = 0;  ///< of that stream in the capture, until here
};

}  // namespace chorus::test::doubles
