// SPDX-License-Identifier: Apache-2.0
#include "transport/node_memory.hpp"

#include "topology/devices.hpp"
#include "topology/topology.hpp"
#include "transport/gathering.hpp"
#include "transport/node_agreement.hpp"
#include "transport/shared_group.hpp"

#include <chorus/detail/launch.hpp>
#include <chorus/environment.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <set>
#include <span>
#include <utility>

namespace chorus {
namespace {

using Kind = SegmentAddress::Kind;

/// Regions that other ranks may still look into: kept until those have left.
struct Leftover {
  Segment::Lease lease;
  std::size_t ranks = 0;
};
struct Leftovers {
  std::mutex mutex;
  std::list<Leftover> list;
};
Leftovers& leftovers() {
  static auto* const all = new Leftovers;  // never destroyed: communicators may outlive static objects
  return *all;
}

bool everybody_left(const Leftover& leftover) {
  return reinterpret_cast<const ControlPage*>(leftover.lease.data())->left.load() == leftover.ranks;
}

void give_back_leftovers() {
  Leftovers& all = leftovers();
  const std::scoped_lock lock(all.mutex);
  std::erase_if(all.list, everybody_left);
}

PeerRecord this_rank() {
  PeerRecord record;
  record.kernel = this_kernel();
  record.process = this_process();
  record.probe = memory_probe();
  record.binding = current_binding(this_machine());
  record.launched_here = detail::Launch::beside_this_process();
  record.world_rank = Environment::world_rank();
  record.paces = remembered_paces();
  record.network = remembered_network();
  gethostname(record.host.data(), record.host.size() - 1);
  return record;
}

/// This process's segment of `kind`, null where there can be none. Of the anonymous kind it has one for all
/// communicators; a named one loses its name before another communicator could use it.
std::shared_ptr<Segment> segment_of(Kind kind, std::size_t bytes) {
  if (kind == Kind::none) return nullptr;
  if (kind == Kind::named) return Segment::make_named(bytes);
  return Segment::of_this_process();
}

/// True where nodes are as they are, or the two are on the same of those that many ranks of the job each pretend: who
/// is with whom is the same in every communicator.
bool pretend_to_share_a_node(const PeerRecord& left, const PeerRecord& right, int node_ranks) {
  return node_ranks == 0 || left.world_rank / node_ranks == right.world_rank / node_ranks;
}

std::size_t groups_of(const std::vector<int>& nodes) {
  return nodes.empty() ? 0 : static_cast<std::size_t>(*std::ranges::max_element(nodes)) + 1;
}

/// The number of groups there would be if all ranks of one kernel could share memory.
std::size_t kernels_of(const std::vector<PeerRecord>& records) {
  std::set<std::uint64_t> kernels;
  for (const PeerRecord& record : records) kernels.insert(record.kernel);
  return kernels.size();
}

/// Why the first of those that have no named segment has none, and what helps; empty where all have one.
std::string refusal_of(const std::vector<PeerRecord>& records, std::size_t bytes) {
  const auto first = std::ranges::find_if(records, [](const PeerRecord& record) { return record.no_segment != 0; });
  if (first == records.end()) return {};
  const bool full = first->no_segment == ENOSPC || first->no_segment == ENOMEM;
  const char* const remedy =
      full ? "each rank of a node needs as many: enlarge it (docker run --shm-size=1g, or as root mount -o "
             "remount,size=1g /dev/shm), or set CHORUS_SLOT_BYTES=8k"
      : first->no_segment == EFBIG
          ? "let the program's files be longer (ulimit -f unlimited), or set CHORUS_SLOT_BYTES=8k"
          : "let the program write there (as root: mount -t tmpfs -o mode=1777,size=1g tmpfs /dev/shm)";
  return fmt::format("rank {} on host {} cannot make a file of {} bytes in {}, where {} are free: {}; {}",
                     first - records.begin(), first->host.data(), bytes, Segment::folder, first->room_for_one,
                     std::strerror(first->no_segment), remedy);
}

}  // namespace

NodeMemory& NodeMemory::operator=(NodeMemory&& other) noexcept {
  std::swap(nodes, other.nodes);
  std::swap(regions, other.regions);
  std::swap(windows, other.windows);
  std::swap(single_copy, other.single_copy);
  std::swap(mappings_, other.mappings_);
  std::swap(lease_, other.lease_);
  std::swap(alone_, other.alone_);
  return *this;
}

NodeMemory::~NodeMemory() {
  if (!lease_) return;
  lease_.unlink();  // where the set-up has failed it has its name still
  Leftovers& all = leftovers();
  const std::scoped_lock lock(all.mutex);
  const auto ranks = std::ranges::count_if(regions, [](const std::byte* region) { return region != nullptr; });
  all.list.push_back({std::move(lease_), static_cast<std::size_t>(ranks)});
}

void NodeMemory::discard() noexcept { lease_ = Segment::Lease(); }

/// Tries one kind of segment.
class MemorySharing {
 public:
  static Task<NodeMemory> by(Kind kind, Transport& transport, const Settings& settings,
                             std::vector<PeerRecord>& records);

 private:
  /// Maps what this rank can reach.
  static void attach(NodeMemory& memory, NodeAgreement& agreement, int me, const Settings& settings,
                     const std::vector<PeerRecord>& records);
};

void MemorySharing::attach(NodeMemory& memory, NodeAgreement& agreement, int me, const Settings& settings,
                           const std::vector<PeerRecord>& records) {
  bool reaches_into_all = settings.single_copy;
  const PeerRecord& mine = records[static_cast<std::size_t>(me)];
  for (int rank = 0; rank < static_cast<int>(records.size()); ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    const PeerRecord& peer = records[index];
    if (!memory.lease_ || peer.kernel != mine.kernel) continue;
    if (!pretend_to_share_a_node(peer, mine, settings.node_ranks)) continue;
    std::shared_ptr<Mapping>& mapping = memory.mappings_[index] =
        rank == me ? memory.lease_.mapping() : Mapping::attach(peer.segment);
    if (!mapping || peer.region + region_bytes(settings.slot_bytes) > mapping->bytes()) continue;
    memory.regions[index] = mapping->base() + peer.region;
    memory.windows[index] = {peer.segment.base, mapping->base(), mapping->bytes()};
    agreement.reached(me, rank);
    reaches_into_all = reaches_into_all && can_reach(peer.process.pid, peer.probe);
  }
  if (reaches_into_all) agreement.reaches_into_all(me);
}

Task<NodeMemory> MemorySharing::by(Kind kind, Transport& transport, const Settings& settings,
                                   std::vector<PeerRecord>& records) {
  const auto size = static_cast<std::size_t>(transport.size());
  const auto me = static_cast<std::size_t>(transport.rank());
  NodeMemory memory;
  memory.regions.resize(size);
  memory.mappings_.resize(size);
  memory.windows.resize(size);
  const std::shared_ptr<Segment> segment = segment_of(kind, region_bytes(settings.slot_bytes));
  if (segment) memory.lease_ = Segment::lease(segment, region_bytes(settings.slot_bytes));
  const int refused = kind == Kind::named && !segment ? errno : 0;
  records.assign(size, {});
  records[me] = this_rank();
  records[me].no_segment = refused;
  if (refused != 0) records[me].room_for_one = Segment::room_for_named();
  if (memory.lease_) {
    records[me].segment = segment->address();
    records[me].region = memory.lease_.offset();
    // Its pages are to lie near this rank, not near the first one that looks for a line of it.
    static const bool has_several_domains =
        devices_of(this_machine(), Device::Kind::numa, this_machine().allowed).size() > 1;
    if (has_several_domains) std::memset(memory.lease_.data(), 0, control_bytes);
  }
  const Bytes all_records = std::as_writable_bytes(std::span(records));
  co_await gather_records(transport, all_records);

  NodeAgreement agreement(transport.size());
  attach(memory, agreement, transport.rank(), settings, records);
  const Bytes all_rows = agreement.bytes();
  co_await gather_records(transport, all_rows);
  if (segment) segment->unlink();
  memory.nodes = agreement.nodes();
  memory.single_copy = agreement.everybody_reaches_into_all();
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (memory.nodes[rank] == memory.nodes[me]) continue;
    memory.regions[rank] = nullptr;
    memory.mappings_[rank].reset();
  }
  if (kind != Kind::none && memory.regions[me] == nullptr) {  // so that all ranks have one, or none has
    memory.alone_ =
        std::make_unique<NodeMemory::Page[]>(region_bytes(settings.slot_bytes) / sizeof(NodeMemory::Page) + 1);
    memory.regions[me] = memory.alone_[0].bytes;
  }
  co_return memory;
}

Task<NodeMemory> share_memory(Transport& transport, const Settings& settings, std::vector<PeerRecord>& records,
                              std::vector<std::string>& notes) {
  give_back_leftovers();
  NodeMemory best;
  const SharedMemory wanted = settings.shared_memory;
  for (const Kind kind : {Kind::memfd, Kind::named}) {
    const bool excluded = wanted == SharedMemory::off || (wanted == SharedMemory::memfd && kind != Kind::memfd) ||
                          (wanted == SharedMemory::named && kind != Kind::named);
    if (excluded) continue;
    NodeMemory memory = co_await MemorySharing::by(kind, transport, settings, records);
    const std::size_t groups = groups_of(memory.nodes);
    if (std::string why = refusal_of(records, region_bytes(settings.slot_bytes)); !why.empty()) {
      notes.push_back(std::move(why));
    }
    notes.push_back(fmt::format("shared memory by {}: ranks {}, kernels {}, groups that share memory {}",
                                kind == Kind::memfd ? "memfd" : "named segments", transport.size(), kernels_of(records),
                                groups));
    if (best.nodes.empty() || groups < groups_of(best.nodes)) best = std::move(memory);
    memory.discard();
    if (groups_of(best.nodes) <= kernels_of(records) || settings.node_ranks > 0) break;
  }
  if (best.nodes.empty()) {
    best = co_await MemorySharing::by(Kind::none, transport, settings, records);
    notes.emplace_back("shared memory is off: messages only");
  }
  co_return best;
}

}  // namespace chorus
