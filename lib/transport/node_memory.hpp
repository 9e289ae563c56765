// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/settings.hpp"
#include "topology/binding.hpp"
#include "transport/network_pace.hpp"
#include "transport/pace.hpp"
#include "transport/process.hpp"
#include "transport/process_copy.hpp"
#include "transport/segment.hpp"
#include "transport/shared_region.hpp"
#include "transport/transport.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace chorus {

/// What the ranks of a job tell each other when a communicator is set up. Sent as it stands.
struct PeerRecord {
  std::uint64_t kernel = 0;  ///< see this_kernel
  ProcessId process;
  MemoryProbe probe;
  Binding binding;
  std::int32_t launched_here = 0;  ///< ranks on this node by the launcher's word; 0: it says nothing
  std::int32_t world_rank = 0;     ///< in MPI_COMM_WORLD
  std::array<char, 64> host{};
  KnownPaces paces;     ///< as this rank remembers them
  NetworkPace network;  ///< likewise
  SegmentAddress segment;
  std::uint64_t region = 0;        ///< offset of this rank's region in its segment
  std::int32_t no_segment = 0;     ///< errno where the system refused a named one ...
  std::uint64_t room_for_one = 0;  ///< ... and the bytes that were free for it
};

/// The regions of the ranks that share memory with this one, for one communicator. A region is a control page and the
/// data slots (shared_group.hpp). Its own region is given back when all ranks have left.
class NodeMemory {
 public:
  NodeMemory() noexcept = default;
  NodeMemory(NodeMemory&&) noexcept = default;
  NodeMemory& operator=(NodeMemory&&) noexcept;
  ~NodeMemory();
  /// No rank uses it: its own region is given back at once.
  void discard() noexcept;

  std::vector<int> nodes;           ///< per rank of the communicator, counted in the order of their first ranks
  std::vector<std::byte*> regions;  ///< per rank; null for those on other nodes
  std::vector<Window> windows;      ///< per rank: the segment its region and its registered memory are in
  bool single_copy = false;         ///< all ranks can reach into the processes that they share memory with

 private:
  friend class MemorySharing;
  std::vector<std::shared_ptr<Mapping>> mappings_;
  Segment::Lease lease_;
  struct alignas(4096) Page {
    std::byte bytes[4096];
  };
  std::unique_ptr<Page[]> alone_;  // the region of a rank that has no segment
};

/// Finds the ranks of `transport` that can map each other's memory, and maps it: every rank tries, then all agree.
/// `records` [size] gets what the ranks have told; `notes` what was decided, for the log.
Task<NodeMemory> share_memory(Transport& transport, const Settings& settings, std::vector<PeerRecord>& records,
                              std::vector<std::string>& notes);

}  // namespace chorus
