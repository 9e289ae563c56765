// SPDX-License-Identifier: Apache-2.0
#include "staging.hpp"

#include "base/machine.hpp"
#include "base/names.hpp"

#include <algorithm>

namespace chorus {
namespace {

/// Equal blocks one behind the other.
std::vector<Section> equal_blocks(std::size_t count, std::size_t bytes, std::size_t offset = 0) {
  std::vector<Section> blocks;
  for (std::size_t block = 0; block < count; ++block) blocks.push_back({offset + block * bytes, bytes});
  return blocks;
}

/// The same sections with those that follow each other in one piece; without empty ones.
std::vector<Section> joined(const std::vector<Section>& sections) {
  std::vector<Section> runs;
  for (const Section& section : sections) {
    if (section.bytes == 0) continue;
    if (!runs.empty() && runs.back().offset + runs.back().bytes == section.offset) {
      runs.back().bytes += section.bytes;
    } else {
      runs.push_back(section);
    }
  }
  return runs;
}

/// True where they are as long as one another, and as far from one another.
bool are_rows(const std::vector<Section>& runs) {
  for (std::size_t run = 1; run < runs.size(); ++run) {
    if (runs[run].bytes != runs[0].bytes || runs[run].offset < runs[run - 1].offset + runs[0].bytes) return false;
    if (runs[run].offset - runs[run - 1].offset != runs[1].offset - runs[0].offset) return false;
  }
  return true;
}

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

std::size_t longest_block(const Arguments& arguments) noexcept {
  if (arguments.in_sections.empty()) return arguments.call.bytes();
  std::size_t longest = 0;
  for (const Section& section : arguments.in_sections) longest = std::max(longest, section.bytes);
  for (const Section& section : arguments.out_sections) longest = std::max(longest, section.bytes);
  return longest;
}

Staging::Staging(Accelerator& device, const Transport& transport, const Arguments& arguments)
    : device_(device), arguments_(arguments) {
  const Call& call = arguments_.call;
  const std::size_t most = std::max(most_blocks(call.collective, transport.size()), arguments_.in_sections.size());
  segment_ = std::max(call.element_bytes(), call.whole_bytes(machine::staged_at_once / most));
  if (longest_block(arguments) > segment_) halves_ = Accelerator::halves;
  // The device's memory is read here alone.
  in_.device = const_cast<std::byte*>(arguments_.in);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  out_.device = arguments_.out;
  if (lengths_differ()) {
    take_blocks();
  } else {
    take_equal_blocks(transport);
  }
  place_in_pinned_memory();
}

int Staging::steps(std::size_t longest) const noexcept {
  return static_cast<int>(std::max<std::size_t>((longest + segment_ - 1) / segment_, 1));
}

void Staging::take_equal_blocks(const Transport& transport) {
  const Call& call = arguments_.call;
  const std::size_t bytes = call.bytes();
  const std::size_t most = most_blocks(call.collective, transport.size());
  const bool is_root = !has_root(call.collective) || transport.rank() == call.root;
  const bool in_place = arguments_.in == arguments_.out;
  const std::size_t own = in_place ? static_cast<std::size_t>(transport.rank()) * bytes : 0;
  std::size_t given = 1, got = 1, first = 0;
  switch (call.collective) {
    case Collective::bcast:
      given = is_root ? 1 : 0;
      got = is_root ? 0 : 1;
      break;
    case Collective::reduce:
      got = is_root ? 1 : 0;
      break;
    case Collective::allgather:
      first = own;
      got = most;
      break;
    case Collective::gather:
      if (is_root) first = own;
      got = is_root ? most : 0;
      break;
    case Collective::scatter:
      given = is_root ? most : 0;
      if (in_place && is_root) got = 0;  // its own stays where it is
      break;
    case Collective::reduce_scatter_block:
      given = most;
      break;
    case Collective::alltoall:
      given = got = most;
      break;
    default:
      break;
  }
  in_.blocks = equal_blocks(given, bytes, first);
  out_.blocks = equal_blocks(got, bytes);
}

void Staging::take_blocks() {
  in_.blocks.assign(arguments_.in_sections.begin(), arguments_.in_sections.end());
  if (arguments_.call.collective == Collective::allgatherv) in_.blocks.resize(1);  // which all get
  out_.blocks.assign(arguments_.out_sections.begin(), arguments_.out_sections.end());
}

void Staging::place_in_pinned_memory() {
  const auto half_of = [&](const std::vector<Section>& blocks) {
    std::size_t bytes = 0;
    for (const Section& block : blocks) bytes += piece_of(block, 0).bytes;
    return (bytes + 63) / 64 * 64;
  };
  in_.half_bytes = half_of(in_.blocks);
  // Where blocks are equal the host's call needs a place.
  const bool needs_place = out_.blocks.empty() && !lengths_differ();
  out_.half_bytes = half_of(needs_place ? equal_blocks(1, arguments_.call.bytes()) : out_.blocks);
  const bool one = arguments_.call.collective == Collective::bcast;  // whose call on the host has one buffer
  in_.host = device_.pinned(halves_ * ((one ? 0 : in_.half_bytes) + out_.half_bytes) + 1).data();
  out_.host = one ? in_.host : in_.host + halves_ * in_.half_bytes;
  if (one) in_.half_bytes = out_.half_bytes;
}

Section Staging::piece_of(const Section& block, int step) const noexcept {
  const std::size_t begin = std::min(static_cast<std::size_t>(step) * segment_, block.bytes);
  return {block.offset + begin, std::min(segment_, block.bytes - begin)};
}

std::vector<Section> Staging::packed(const Side& side, int step) const {
  std::vector<Section> sections;
  std::size_t offset = 0;
  for (const Section& block : side.blocks) {
    sections.push_back({offset, piece_of(block, step).bytes});
    offset += sections.back().bytes;
  }
  return sections;
}

Arguments Staging::on_host(int step) {
  Arguments call = arguments_;
  call.call.memory = Memory::host;
  call.stream = nullptr;
  call.out = half(out_, step);
  call.in = half(in_, step);
  in_sections_ = packed(in_, step);
  const std::size_t given = in_sections_.empty() ? 0 : in_sections_.back().offset + in_sections_.back().bytes;
  const std::size_t element = call.call.element_bytes();
  if (call.multiply != nullptr) call.multiply(call.function, half(in_, step), given / element);
  if (!lengths_differ()) {
    call.call.count = piece_of({0, call.call.bytes()}, step).bytes / element;
    return call;
  }
  out_sections_ = packed(out_, step);
  std::size_t all = given;
  if (call.call.collective == Collective::allgatherv) {
    in_sections_.resize(out_sections_.size(), in_sections_.front());
    all = out_sections_.back().offset + out_sections_.back().bytes;
  }
  if (!counts_differ(call.call.collective)) call.call.count = all / element;  // which every rank knows
  call.in_sections = in_sections_;
  call.out_sections = out_sections_;
  return call;
}

void Staging::copy(Accelerator::Way way, const Side& side, int step) {
  std::vector<Section> pieces;
  for (const Section& block : side.blocks) pieces.push_back(piece_of(block, step));
  // Equal blocks stay rows, which the copy engines take.
  const std::vector<Section> runs = lengths_differ() ? joined(pieces) : pieces;
  if (runs.empty()) return;
  const int number = step % Accelerator::halves;
  std::byte* host = half(side, step);
  if (are_rows(runs)) {
    const std::size_t distance = runs.size() > 1 ? runs[1].offset - runs[0].offset : runs[0].bytes;
    return device_.copy(way, number, host, side.device + runs[0].offset,
                        {.count = runs.size(), .bytes = runs[0].bytes, .distance = distance});
  }
  for (const Section& run : runs) {
    device_.copy(way, number, host, side.device + run.offset, {.count = 1, .bytes = run.bytes, .distance = run.bytes});
    host += run.bytes;
  }
}

}  // namespace chorus
