// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "communicators.hpp"
#include "memory.hpp"
#include "streams.hpp"

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Operations of NCCL: from the call to the moment when the data moves. All under the lock.
namespace chorus::test::doubles {

enum class OperationKind : std::uint8_t { all_reduce, broadcast, reduce, all_gather, reduce_scatter, send, recv };

struct Operation {
  OperationKind kind = OperationKind::all_reduce;
  std::string function = {};
  std::shared_ptr<Communicator> comm = nullptr;
  std::shared_ptr<Stream> stream = nullptr;
  std::uintptr_t from = 0;
  std::uintptr_t to = 0;
  std::size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  std::optional<Scale> scale = std::nullopt;
  int peer = -1;  ///< or root
};

/// The bytes of an element; 0: there is no such type.
[[nodiscard]] std::size_t size_of(ncclDataType_t type);
[[nodiscard]] std::string name_of(ncclDataType_t type);
[[nodiscard]] std::string name_of(ncclRedOp_t op);
/// How many bytes `operation` reads and writes on its rank; 0: it has no such buffer.
[[nodiscard]] std::size_t bytes_read(const Operation& operation);
[[nodiscard]] std::size_t bytes_written(const Operation& operation);

/// One rank's part of an exchange, while it is on a stream.
struct Part {
  Operation operation;
  Bytes from = {};
  Bytes to = {};
  Bytes scale = {};
  bool arrived = false;  ///< its stream has reached it
  std::shared_ptr<Exchange> exchange = nullptr;
};

/// A collective, or a send with its recv. Data moves when all its parts have arrived.
struct Exchange {
  std::size_t expected = 0;
  std::vector<Part*> parts = {};
  bool differs = false;  ///< the ranks called different things, which has been recorded
  bool moving = false;
  bool done = false;
};

/// Enqueues operations that are called together. ncclInProgress: not yet.
ncclResult_t launch(const std::vector<Operation>& operations, Lock& lock);

/// Moves and reduces the data of an exchange that is complete. Without the lock.
void transfer(const Exchange& exchange);

}  // namespace chorus::test::doubles
