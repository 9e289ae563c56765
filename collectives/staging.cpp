// SPDX-License-Identifier: Apache-2.0
#include "staging.hpp"

#include "base/machine.hpp"
#include "base/names.hpp"

#include <algorithm>
#include <span>

namespace chorus {
namespace {

std::size_t end_of(std::span<const Section> sections) noexcept {
  const Section extent = extent_of(sections);
  return extent.offset + extent.bytes;
}

bool lengths_differ(const Arguments& arguments) noexcept { return !arguments.in_sections.empty(); }

}  // namespace

std::size_t most_blocks(Collective collective, int ranks) noexcept {
  switch (collective) {
    case Collective::allgather:
    case Collective::reduce_scatter_block:
    case Collective::alltoall:
    case Collective::gather:
    case Collective::scatter:
      return static_cast<std::size_t>(ranks);
    default:
      return 1;
  }
}

Staging::Staging(Accelerator& device, const Transport& transport, const Arguments& arguments)
    : device_(device), arguments_(arguments), mirrored_(lengths_differ(arguments)) {
  if (mirrored_) {
    mirror(transport);
  } else {
    cut_into_segments(transport);
  }
  place_in_pinned_memory();
}

void Staging::cut_into_segments(const Transport& transport) {
  const Call& call = arguments_.call;
  const std::size_t most = most_blocks(call.collective, transport.size());
  const std::size_t at_once = std::max(call.element_bytes(), call.whole_bytes(machine::staged_at_once / most));
  segment_ = std::min(at_once, call.bytes());
  steps_ = static_cast<int>((call.bytes() + segment_ - 1) / segment_);
  const bool is_root = !has_root(call.collective) || transport.rank() == call.root;
  const bool in_place = arguments_.in == arguments_.out;
  const std::size_t own = static_cast<std::size_t>(transport.rank()) * call.bytes();
  // The device's memory is read here alone.
  auto* const in = const_cast<std::byte*>(arguments_.in);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  in_ = {.blocks = 1, .device = in};
  out_ = {.blocks = 1, .device = arguments_.out};
  switch (call.collective) {
    case Collective::bcast:
      in_.blocks = is_root ? 1 : 0;
      out_.blocks = is_root ? 0 : 1;
      break;
    case Collective::reduce:
      out_.blocks = is_root ? 1 : 0;
      break;
    case Collective::allgather:
      if (in_place) in_.device += own;
      out_.blocks = most;
      break;
    case Collective::gather:
      if (in_place && is_root) in_.device += own;
      out_.blocks = is_root ? most : 0;
      break;
    case Collective::scatter:
      in_.blocks = is_root ? most : 0;
      if (in_place && is_root) out_.blocks = 0;  // its own stays where it is
      break;
    case Collective::reduce_scatter_block:
      in_.blocks = most;
      break;
    case Collective::alltoall:
      in_.blocks = out_.blocks = most;
      break;
    default:
      break;
  }
  in_.half_bytes = in_.blocks * segment_;
  out_.half_bytes = std::max<std::size_t>(out_.blocks, 1) * segment_;  // also where the host's call needs a place
}

void Staging::mirror(const Transport& transport) {
  const Call& call = arguments_.call;
  auto* const in = const_cast<std::byte*>(arguments_.in);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  in_ = {.blocks = 1, .device = in, .half_bytes = end_of(arguments_.in_sections)};
  out_ = {.blocks = 1, .device = arguments_.out, .half_bytes = end_of(arguments_.out_sections)};
  if (call.collective == Collective::reduce_scatter) {
    out_.half_bytes = own_bytes_ = arguments_.in_sections[static_cast<std::size_t>(transport.rank())].bytes;
  }
}

void Staging::place_in_pinned_memory() {
  const std::size_t halves = mirrored_ || steps_ == 1 ? 1 : Accelerator::halves;
  const auto padded = [](std::size_t bytes) { return (bytes + 63) / 64 * 64; };
  in_.half_bytes = padded(in_.half_bytes);
  out_.half_bytes = padded(out_.half_bytes);
  const bool one = arguments_.call.collective == Collective::bcast;  // whose call on the host has one buffer
  in_.host = device_.pinned(halves * ((one ? 0 : in_.half_bytes) + out_.half_bytes) + 1).data();
  out_.host = one ? in_.host : in_.host + halves * in_.half_bytes;
  if (one) in_.half_bytes = out_.half_bytes;
}

std::size_t Staging::segment_bytes(int step) const noexcept {
  return std::min(segment_, arguments_.call.bytes() - static_cast<std::size_t>(step) * segment_);
}

Accelerator::Rows Staging::rows_of(const Side& side, int step) const noexcept {
  return {.count = side.blocks, .bytes = segment_bytes(step), .distance = arguments_.call.bytes()};
}

void Staging::fetch(int step) {
  using Way = Accelerator::Way;
  const int half = step % Accelerator::halves;
  if (mirrored_) {
    const std::size_t bytes = end_of(arguments_.in_sections);
    if (bytes > 0)
      device_.copy(Way::to_host, half, in_.host, in_.device, {.count = 1, .bytes = bytes, .distance = bytes});
  } else if (in_.blocks > 0) {
    std::byte* const from = in_.device + static_cast<std::size_t>(step) * segment_;
    device_.copy(Way::to_host, half, in_.half(step), from, rows_of(in_, step));
  }
}

Arguments Staging::on_host(int step) const {
  Arguments call = arguments_;
  if (call.multiply != nullptr) {
    const std::size_t bytes = mirrored_ ? end_of(call.in_sections) : in_.blocks * segment_bytes(step);
    call.multiply(call.function, in_.half(step), bytes / call.call.element_bytes());
  }
  call.call.memory = Memory::host;
  call.stream = nullptr;
  if (!mirrored_) call.call.count = segment_bytes(step) / call.call.element_bytes();
  call.out = out_.half(step);
  call.in = in_.half(step);
  return call;
}

void Staging::store(int step) {
  using Way = Accelerator::Way;
  const int half = step % Accelerator::halves;
  if (!mirrored_) {
    if (out_.blocks == 0) return;
    std::byte* const to = out_.device + static_cast<std::size_t>(step) * segment_;
    return device_.copy(Way::to_device, half, out_.half(step), to, rows_of(out_, step));
  }
  const auto copy = [&](const Section& section) {
    if (section.bytes == 0) return;
    device_.copy(Way::to_device, half, out_.host + section.offset, out_.device + section.offset,
                 {.count = 1, .bytes = section.bytes, .distance = section.bytes});
  };
  if (arguments_.call.collective == Collective::reduce_scatter) return copy({0, own_bytes_});
  for (const Section& section : arguments_.out_sections) copy(section);
}

}  // namespace chorus
