// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "transport/shared_group.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

namespace chorus {

/// The memory of the nodes that the ranks of one process pretend to be on.
class ProcessMemory {
 public:
  /// `nodes[r]` is the node of rank r; `bindings[r]` where it is bound there, empty where they are not.
  ProcessMemory(std::vector<int> nodes, std::size_t slot_bytes, std::vector<Binding> bindings = {});

  /// What `rank` makes its SharedGroup of.
  [[nodiscard]] SharedGroup::Members members(int rank) const;

  /// The nodes of `ranks` ranks, counted in the order of their first ranks. `wanted` may number them in another way;
  /// empty: all ranks are on one.
  [[nodiscard]] static std::vector<int> number_nodes(const std::vector<int>& wanted, int ranks);

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  std::vector<int> nodes_;
  std::size_t slot_bytes_;
  std::vector<Binding> bindings_;
  std::size_t region_bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  std::byte* first_region_;
};

}  // namespace chorus
