// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "table.hpp"

#include <chorus/request.hpp>

#include <mpi.h>

#include <string_view>

namespace chorus::bench {

/// The forms of a collective that return before it is done.
struct NonblockingRow {
  std::string_view name;  ///< that of its row in table()
  Request (*start)(const Call&);
  PersistentRequest (*prepare)(const Call&);
  void (*native)(const Call&, MPI_Request&);  ///< MPI's own
};

/// That of a collective of table().
[[nodiscard]] const NonblockingRow& nonblocking_row(std::string_view collective);

}  // namespace chorus::bench
