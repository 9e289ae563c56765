// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer_pool.hpp"
#include "base/bytes.hpp"
#include "base/call.hpp"
#include "task/operation.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

class Accelerator;
class DeviceNative;
class Error;
class Native;
class PeerWindows;
struct DevicePace;
class SharedGroup;
struct Devices;
class Subset;
class Transport;

inline constexpr int no_rank = -1;

/// Messages of one channel between two ranks arrive in the order they were sent. Those of a Subset have another channel
/// than those of all ranks, and than those of subsets that are used beside it.
struct Channel {
  enum : int {
    all,
    inside_nodes,
    lanes,
    speakers,  ///< one rank of each node, for phases between nodes
    splitting  ///< the ranks of a communicator that is being made
  };
};

/// A message out, a message in, or both at once.
struct Envelope {
  ConstBytes outgoing = {};
  int destination = no_rank;
  Bytes incoming = {};
  int source = no_rank;
  int channel = Channel::all;
  Where where = {};
};

/// A message exchange under way: awaited, it goes on when the message out may be overwritten and the message in is
/// there. It cannot be moved, as it is what the transport polls.
class [[nodiscard]] Exchange final : public PolledEvent {
 public:
  /// What the transport needs to know its two requests again: MPI_Requests, or pointers.
  struct Tickets {
    std::uint64_t send = 0;
    std::uint64_t receive = 0;
  };
  Exchange(Transport& transport, const Envelope& envelope, Tickets tickets, void* segments = nullptr) noexcept
      : PolledEvent(envelope.where), tickets(tickets), segments(segments), transport_(transport), envelope_(envelope) {}

  Tickets tickets;
  void* segments;  ///< what a transport knows of an exchange that it cuts into several
  [[nodiscard]] std::size_t incoming_bytes() const noexcept { return envelope_.incoming.size(); }
  [[nodiscard]] int source() const noexcept { return envelope_.source; }

 private:
  bool ready() override;
  void abandon() noexcept override;
  [[nodiscard]] std::string what() const override;

  Transport& transport_;
  Envelope envelope_;
};

/// Throws Error{mismatch}: what has come from `source` is not as long as its buffer. `found`: how long it is.
[[noreturn]] void report_length(int source, const std::string& found, std::size_t expected);

/// The waist: what the algorithms stand on and what MPI, threads and the simulator provide. A transport belongs to one
/// rank of one communicator.
class Transport {
 public:
  Transport(int rank, int size) noexcept;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport();

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Starts the messages of `envelope`. An incoming message has exactly the length of its buffer.
  virtual Exchange start(const Envelope& envelope) = 0;
  /// True once both messages of `exchange` are done. Throws Error{transport} where they cannot be, and Error{mismatch}
  /// where a message has another length than its buffer.
  virtual bool test(Exchange& exchange) = 0;
  /// Gives up the messages of `exchange`. What they point to is not touched after this returns, but where a message is
  /// half way over MPI, which cannot take it back.
  virtual void cancel(Exchange& exchange) noexcept = 0;

  Exchange send(ConstBytes outgoing, int destination, Where where = Where::here()) {
    return start({.outgoing = outgoing, .destination = destination, .where = where});
  }
  Exchange receive(Bytes incoming, int source, Where where = Where::here()) {
    return start({.incoming = incoming, .source = source, .where = where});
  }
  Exchange sendrecv(ConstBytes outgoing, int destination, Bytes incoming, int source, Where where = Where::here()) {
    return start({outgoing, destination, incoming, source, Channel::all, where});
  }
  /// How many segments of messages that go in several have come or gone: a long message moves before it is done.
  [[nodiscard]] std::uint64_t segments_moved() const noexcept { return segments_moved_; }
  /// Working memory, 64-byte aligned, uninitialised.
  [[nodiscard]] Scratch scratch(std::size_t bytes) { return buffers_.take(bytes); }
  /// Something may be under way there for ever: it is never freed.
  void leave_under_way() noexcept { under_way_ = true; }
  [[nodiscard]] bool is_under_way() const noexcept { return under_way_; }

  // Capabilities: agreed when the communicator is set up, so that a null here is a null on every rank.

  /// The shared memory of all ranks; null unless they are on one node and can map it.
  [[nodiscard]] SharedGroup* shared() const noexcept { return shared_; }
  /// The shared memory of this rank's node, whether or not all ranks are on it; null where it has none.
  [[nodiscard]] SharedGroup* node_memory() const noexcept { return node_memory_.get(); }
  /// The vendor's own collectives over these ranks.
  [[nodiscard]] Native* native() const noexcept { return native_; }

  /// This rank's device; null on every rank where none has called with device memory yet.
  [[nodiscard]] Accelerator* accelerator() const noexcept;
  /// The vendor's own collectives over the devices of these ranks; null on every rank, or on none.
  [[nodiscard]] DeviceNative* device_native() const noexcept;
  /// Why there is none; null where there is one, or no rank has called with device memory yet.
  [[nodiscard]] const Error* no_device_native() const noexcept;
  /// Windows into the devices' memory, which all ranks' devices read; null on every rank, or on none.
  [[nodiscard]] PeerWindows* windows() const noexcept;
  /// Of the devices; unknown where it was not measured. The same on every rank.
  [[nodiscard]] DevicePace device_pace() const noexcept;

  // The hierarchy. All three are null where all ranks are on one node, or every rank is alone on its own.

  /// The ranks on this rank's node, with their shared memory.
  [[nodiscard]] Transport* node() const noexcept;
  /// The ranks that have the same place in their nodes as this one, in the order of the nodes; null where some node has
  /// too few.
  [[nodiscard]] Transport* lane() const noexcept;
  /// The first lane: the first rank of every node; null on the other ranks.
  [[nodiscard]] Transport* leaders() const noexcept;
  /// The number of the node each rank is on, counted in the order of their first ranks; empty where all are on one.
  [[nodiscard]] const std::vector<int>& nodes() const noexcept { return nodes_; }
  /// How many ranks each of them has; empty where all are on one.
  [[nodiscard]] const std::vector<int>& node_sizes() const noexcept { return node_sizes_; }
  /// All ranks, node by node; empty where all are on one.
  [[nodiscard]] const std::vector<int>& ranks_by_node() const noexcept { return ranks_by_node_; }

  /// Sets the capabilities and cuts the ranks into nodes: `nodes[r]` is the node of rank r; `shared` is the memory of
  /// this rank's node, or null. Called once, before the first collective, with the same `nodes` on every rank.
  void compose(std::vector<int> nodes, std::unique_ptr<SharedGroup> shared, Native* native);
  /// The vendor's collectives, found later: the same call makes them known on every rank.
  void set_native(Native* native) noexcept { native_ = native; }
  /// The devices, which the first call with device memory finds, or none any more.
  void set_devices(Devices devices) noexcept;

 protected:
  void count_segments(std::uint64_t more) noexcept { segments_moved_ += more; }

 private:
  int rank_;
  int size_;
  bool under_way_ = false;
  BufferPool buffers_;
  std::vector<int> nodes_;
  std::vector<int> node_sizes_;
  std::vector<int> ranks_by_node_;
  std::unique_ptr<SharedGroup> node_memory_;
  std::unique_ptr<Devices> devices_;
  std::unique_ptr<Subset> node_;
  std::unique_ptr<Subset> lane_;
  SharedGroup* shared_ = nullptr;
  Native* native_ = nullptr;
  std::uint64_t segments_moved_ = 0;
};

/// Some ranks of a transport as a transport of their own: its messages go through the parent on a channel of their own.
class Subset final : public Transport {
 public:
  /// `members`: ranks of `parent` in the order of their ranks here, this one among them.
  Subset(Transport& parent, std::vector<int> members, int channel);
  ~Subset() override;

  Exchange start(const Envelope& envelope) override;
  bool test(Exchange& exchange) override { return parent_.test(exchange); }
  void cancel(Exchange& exchange) noexcept override { parent_.cancel(exchange); }

 private:
  Transport& parent_;
  std::vector<int> members_;
  int channel_;
};

}  // namespace chorus
