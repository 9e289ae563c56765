// SPDX-License-Identifier: Apache-2.0
#include "transport/mailbox.hpp"

#include <fmt/format.h>

#include <chorus/error.hpp>

#include <cstring>

namespace chorus {
namespace {

void hand_over(Message& message, Receipt& receipt) noexcept {
  receipt.sent_bytes = message.data.size();
  if (receipt.sent_bytes == receipt.buffer.size() && receipt.sent_bytes > 0) {
    std::memcpy(receipt.buffer.data(), message.data.data(), receipt.sent_bytes);
  }
  receipt.complete.store(true, std::memory_order_release);
  message.received.store(true, std::memory_order_release);
}

}  // namespace

template <class Entry>
Entry* EntryQueue<Entry>::pop() noexcept {
  Entry* const entry = first_;
  if (entry == nullptr) return nullptr;
  first_ = entry->next;
  if (first_ == nullptr) last_ = nullptr;
  return entry;
}

template <class Entry>
bool EntryQueue<Entry>::remove(const Entry& entry) noexcept {
  Entry* before = nullptr;
  for (Entry* at = first_; at != nullptr; before = at, at = at->next) {
    if (at != &entry) continue;
    (before == nullptr ? first_ : before->next) = at->next;
    if (last_ == at) last_ = before;
    return true;
  }
  return false;
}

bool Mailbox::deliver(Message& message) {
  Stream& here = stream(message.source, message.channel);
  if (Receipt* const receipt = here.receipts.pop()) {
    hand_over(message, *receipt);
    return true;
  }
  here.messages.push(message);
  ++kept_;
  return false;
}

Message* Mailbox::post(Receipt& receipt) {
  Stream& here = stream(receipt.source, receipt.channel);
  Message* const message = here.messages.pop();
  if (message != nullptr) {
    --kept_;
    hand_over(*message, receipt);
  } else {
    here.receipts.push(receipt);
  }
  return message;
}

bool Mailbox::withdraw(const Message& message) noexcept {
  const bool found = stream(message.source, message.channel).messages.remove(message);
  if (found) --kept_;
  return found;
}

bool Mailbox::withdraw(const Receipt& receipt) noexcept {
  return stream(receipt.source, receipt.channel).receipts.remove(receipt);
}

Message& OpenExchanges::message(int source, const Envelope& envelope) {
  Message& message = messages_.take();
  message.source = source;
  message.destination = envelope.destination;
  message.channel = envelope.channel;
  message.data = envelope.outgoing;
  message.received.store(false, std::memory_order_relaxed);
  message.buffered = false;
  message.withdrawn = false;
  return message;
}

Receipt& OpenExchanges::receipt(const Envelope& envelope) {
  Receipt& receipt = receipts_.take();
  receipt.source = envelope.source;
  receipt.channel = envelope.channel;
  receipt.buffer = envelope.incoming;
  receipt.complete.store(false, std::memory_order_relaxed);
  return receipt;
}

bool OpenExchanges::test(Exchange::Tickets& tickets) {
  if (Message* const message = message_of(tickets); message && message->received.load(std::memory_order_acquire)) {
    tickets.send = 0;
    give_back(*message);
  }
  if (Receipt* const receipt = receipt_of(tickets); receipt && receipt->complete.load(std::memory_order_acquire)) {
    tickets.receive = 0;
    give_back(*receipt);
    if (receipt->sent_bytes != receipt->buffer.size()) {
      report_length(receipt->source, fmt::format("{}", receipt->sent_bytes), receipt->buffer.size());
    }
  }
  return tickets.send == 0 && tickets.receive == 0;
}

}  // namespace chorus
