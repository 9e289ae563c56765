// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

// Messages between ranks of one process, for the worlds of threads and of simulated ranks: who gets which message is
// what MPI says, matched by source and channel in the order of the starts.
namespace chorus {

/// A message out, from its start until it has been received.
struct Message {
  int source = no_rank;
  int destination = no_rank;
  int channel = 0;
  ConstBytes data;
  std::atomic<bool> received{false};  ///< set last: `data` is not read any more
  Message* next = nullptr;
  std::vector<std::byte> copy;  ///< memory for `data` where the sender does not wait; kept for the next message
  bool buffered = false;        ///< `data` is `copy`
  bool withdrawn = false;       ///< given up before it arrived
};

/// A message in, from its start until it is there.
struct Receipt {
  int source = no_rank;
  int channel = 0;
  Bytes buffer;
  std::size_t sent_bytes = 0;         ///< the length of the message, which should be that of the buffer
  std::atomic<bool> complete{false};  ///< set last
  Receipt* next = nullptr;
};

/// A list through the entries' own `next`.
template <class Entry>
class EntryQueue {
 public:
  void push(Entry& entry) noexcept {
    entry.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &entry;
    last_ = &entry;
  }
  /// The first entry, or null.
  Entry* pop() noexcept;
  /// True if it was there.
  bool remove(const Entry& entry) noexcept;

 private:
  Entry* first_ = nullptr;
  Entry* last_ = nullptr;
};

/// What has arrived at one rank and what it waits for. One thread at a time.
class Mailbox {
 public:
  /// Gives `message` to the receipt that waits for it, else keeps it. True if it was received.
  bool deliver(Message& message);
  /// Gives `receipt` the message that waits for it, else keeps it. The message it got, or null.
  Message* post(Receipt& receipt);
  /// Forgets what is kept. True if it was there.
  bool withdraw(const Message& message) noexcept;
  bool withdraw(const Receipt& receipt) noexcept;
  /// How many messages are kept.
  [[nodiscard]] std::size_t kept() const noexcept { return kept_; }

 private:
  struct Stream {  // of its two queues one at least is empty
    EntryQueue<Message> messages;
    EntryQueue<Receipt> receipts;
  };
  [[nodiscard]] Stream& stream(int source, int channel) {
    return streams_[static_cast<std::uint64_t>(source) << 8U | static_cast<std::uint64_t>(channel)];
  }

  std::unordered_map<std::uint64_t, Stream> streams_;
  std::size_t kept_ = 0;
};

/// Entries that one rank has under way, kept for reuse so that nothing is allocated later.
template <class Entry>
class EntryPool {
 public:
  [[nodiscard]] Entry& take() {
    if (free_.empty()) return all_.emplace_back();
    Entry& entry = *free_.back();
    free_.pop_back();
    return entry;
  }
  void give_back(Entry& entry) { free_.push_back(&entry); }

 private:
  std::deque<Entry> all_;
  std::vector<Entry*> free_;
};

/// The two halves of the exchanges that one rank has under way. Used by that rank's thread alone.
class OpenExchanges {
 public:
  [[nodiscard]] Message& message(int source, const Envelope& envelope);
  [[nodiscard]] Receipt& receipt(const Envelope& envelope);
  void give_back(Message& message) { messages_.give_back(message); }
  void give_back(Receipt& receipt) { receipts_.give_back(receipt); }

  /// True once both halves are done. Throws Error{mismatch} where a message has the wrong length.
  [[nodiscard]] bool test(Exchange::Tickets& tickets);

  [[nodiscard]] static std::uint64_t ticket(const Message& message) noexcept {
    return reinterpret_cast<std::uint64_t>(&message);
  }
  [[nodiscard]] static std::uint64_t ticket(const Receipt& receipt) noexcept {
    return reinterpret_cast<std::uint64_t>(&receipt);
  }
  /// The half that is still under way; null if it is done or there is none.
  [[nodiscard]] static Message* message_of(const Exchange::Tickets& tickets) noexcept {
    return reinterpret_cast<Message*>(tickets.send);  // NOLINT(performance-no-int-to-ptr): a ticket is an address
  }
  [[nodiscard]] static Receipt* receipt_of(const Exchange::Tickets& tickets) noexcept {
    return reinterpret_cast<Receipt*>(tickets.receive);  // NOLINT(performance-no-int-to-ptr): a ticket is an address
  }

 private:
  EntryPool<Message> messages_;
  EntryPool<Receipt> receipts_;
};

}  // namespace chorus
