// SPDX-License-Identifier: Apache-2.0
#include "collectives/prepared_call.hpp"

#include "base/names.hpp"
#include "carry_out.hpp"
#include "collectives/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace chorus::test {
namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::size_t largest_offset = 64;
constexpr std::byte guard{0xA5};

constexpr std::size_t registered_bytes = std::size_t{16} << 10U;  // at least

// Of whole buffers at a time, as a sanitizer looks at every byte of a loop.
bool same_bytes(std::span<const std::byte> left, std::span<const std::byte> right) {
  return left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0;
}
bool all_guard(std::span<const std::byte> bytes) {
  return bytes.empty() || (bytes.front() == guard && same_bytes(bytes.first(bytes.size() - 1), bytes.subspan(1)));
}

using RegisteredMemory = std::vector<std::byte, Allocator<std::byte>>;

/// Registered memory that buffers use one after another, as programs keep theirs: to get it and to touch it first takes
/// longer than most calls.
class RegisteredPool {
 public:
  /// At least `bytes`, with any content.
  RegisteredMemory take(std::size_t bytes) {
    const std::size_t size = std::bit_ceil(std::max(bytes, registered_bytes));
    const std::scoped_lock lock(mutex_);
    std::vector<RegisteredMemory>& unused = unused_[size];
    if (unused.empty()) return RegisteredMemory(size);
    RegisteredMemory memory = std::move(unused.back());
    unused.pop_back();
    return memory;
  }
  void give_back(RegisteredMemory memory) {
    const std::scoped_lock lock(mutex_);
    unused_[memory.size()].push_back(std::move(memory));
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<RegisteredMemory>> unused_;
};
RegisteredPool& registered_pool() {
  static auto* const pool = new RegisteredPool;
  return *pool;
}

/// Blocks that a rank gives and gets.
struct Shape {
  std::size_t in = 1;
  std::size_t out = 1;
};

Shape shape_of(const Call& call, int ranks, int rank) {
  const auto all = static_cast<std::size_t>(ranks);
  const bool root = rank == call.root;
  switch (call.collective) {
    case Collective::reduce:
      return {1, root ? std::size_t{1} : 0};
    case Collective::allgather:
      return {1, all};
    case Collective::reduce_scatter_block:
      return {all, 1};
    case Collective::alltoall:
      return {all, all};
    case Collective::gather:
      return {1, root ? all : 0};
    case Collective::scatter:
      return {root ? all : 0, 1};
    default:
      return {1, 1};
  }
}

/// The blocks of the results of all ranks, one after another; those that several ranks get stand there once.
std::vector<std::int64_t> results(const Call& call, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  std::vector<std::int64_t> values;
  const auto add = [&](int giver, std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) values.push_back(contribution(call, ranks, giver, first + i));
  };
  switch (call.collective) {
    case Collective::scan:
    case Collective::exscan:
      return prefixes(call, ranks);
    case Collective::allgather:
    case Collective::gather:
      for (int rank = 0; rank < ranks; ++rank) add(rank, 0, call.count);
      return values;
    case Collective::alltoall:
      for (std::size_t block = 0; block < all * all; ++block) {
        add(static_cast<int>(block % all), block / all * call.count, call.count);
      }
      return values;
    case Collective::bcast:
    case Collective::scatter:
      add(call.root, 0, shape_of(call, ranks, call.root).in * call.count);
      return values;
    default:
      values.resize(shape_of(call, ranks, call.root).in * call.count);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = reduction(call, ranks, i);
      return values;
  }
}

std::vector<std::int64_t> input_of(const Call& call, int ranks, int rank) {
  std::vector<std::int64_t> values(shape_of(call, ranks, rank).in * call.count);
  if (call.collective == Collective::bcast && rank != call.root) return values;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = contribution(call, ranks, rank, i);
  return values;
}

/// True where each rank gets a part of these blocks of its own.
bool gets_own_part(Collective collective) {
  return collective == Collective::reduce_scatter_block || collective == Collective::alltoall ||
         collective == Collective::scatter || collective == Collective::scan || collective == Collective::exscan;
}

}  // namespace

/// What ranks put in and get, each computed when it is first asked for.
class PreparedCall::Content {
 public:
  Content(const Call& call, int ranks) : call_(call), ranks_(ranks), inputs_(static_cast<std::size_t>(ranks)) {}
  /// Of a call that may have been prepared before.
  static std::shared_ptr<Content> of(const Call& call, int ranks);

  std::span<const std::byte> input(int rank) {
    return inputs_[static_cast<std::size_t>(rank)].get([&] { return input_of(call_, ranks_, rank); }, call_.type);
  }
  /// The blocks of all ranks; each gets all or a part of them.
  std::span<const std::byte> result() {
    return result_.get([&] { return results(call_, ranks_); }, call_.type);
  }

 private:
  class Elements {
   public:
    template <class Values>
    std::span<const std::byte> get(const Values& values, DataType type) {
      std::call_once(computed_, [&] { bytes_ = elements_of(values(), type); });
      return bytes_;
    }

   private:
    std::once_flag computed_;
    std::vector<std::byte> bytes_;
  };

  Call call_;
  int ranks_;
  std::vector<Elements> inputs_;
  Elements result_;
};

std::shared_ptr<PreparedCall::Content> PreparedCall::Content::of(const Call& call, int ranks) {
  using Key = std::tuple<Collective, DataType, ReduceOp, int, std::size_t, int>;
  constexpr std::size_t most_kept = std::size_t{64} << 20U;  // bytes
  static std::mutex mutex;
  static auto* const kept = new std::map<Key, std::shared_ptr<Content>>;
  static std::size_t kept_bytes = 0;

  const std::scoped_lock lock(mutex);
  std::shared_ptr<Content>& content = (*kept)[Key(call.collective, call.type, call.op, call.root, call.count, ranks)];
  if (content) return content;
  const auto made = std::make_shared<Content>(call, ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const Shape shape = shape_of(call, ranks, rank);
    kept_bytes += (shape.in + shape.out) * call.count * size_of(call.type);
  }
  content = made;
  if (kept_bytes > most_kept) {
    kept->clear();
    kept_bytes = 0;
  }
  return made;
}

PreparedCall::PreparedCall(const Call& call, int ranks, const Placement& placement)
    : call_(call), ranks_(ranks), placement_(placement), content_(Content::of(call, ranks)) {}

std::string PreparedCall::describe() const {
  constexpr const char* registered[] = {"no", "some", "all", "input", "output"};
  return fmt::format("{}{}, offsets {} and {} bytes, {} ranks, {} buffers registered", chorus::describe(call_),
                     placement_.in_place ? " in place" : "", placement_.in_offset, placement_.out_offset, ranks_,
                     registered[static_cast<std::size_t>(placement_.registered)]);
}

std::size_t PreparedCall::in_count(int rank) const noexcept { return shape_of(call_, ranks_, rank).in * call_.count; }

std::size_t PreparedCall::out_count(int rank) const noexcept { return shape_of(call_, ranks_, rank).out * call_.count; }

bool PreparedCall::gets_result(int rank) const noexcept {
  if (call_.collective == Collective::reduce || call_.collective == Collective::gather) return rank == call_.root;
  if (call_.collective == Collective::scatter) return !placement_.in_place || rank != call_.root;
  return call_.collective != Collective::exscan || rank > 0;
}

std::span<const std::byte> PreparedCall::input(int rank) const { return content_->input(rank); }

std::span<const std::byte> PreparedCall::expected(int rank) const {
  if (!gets_result(rank)) return {};
  const std::size_t bytes = out_count(rank) * size_of(call_.type);
  const bool own_part = gets_own_part(call_.collective);
  return content_->result().subspan(own_part ? static_cast<std::size_t>(rank) * bytes : 0, bytes);
}

Placement Placement::of_call(std::size_t number, bool in_place, std::size_t element) {
  const std::size_t offsets[] = {0, element, 3 * element, 1, 2 * element, 7};
  return {in_place, offsets[number % 6], offsets[number / 6 % 6],
          static_cast<Registered>((number / 2 + number / 6) % 3)};
}

RankBuffers::Guarded::Guarded(std::size_t bytes, std::size_t offset, bool registered) : bytes_(bytes) {
  const std::size_t all = bytes + 2 * guard_bytes + 64 + largest_offset;
  if (registered) {
    registered_ = registered_pool().take(all);
    memory_ = std::span(registered_).first(all);
    std::fill(memory_.begin(), memory_.end(), guard);
  } else {
    ordinary_.assign(all, guard);
    memory_ = ordinary_;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data() + guard_bytes);
  begin_ = guard_bytes + (64 - address % 64) % 64 + offset;
}

RankBuffers::Guarded::~Guarded() {
  if (!registered_.empty()) registered_pool().give_back(std::move(registered_));
}

bool RankBuffers::Guarded::intact() const noexcept {
  return all_guard(memory_.first(begin_)) && all_guard(memory_.subspan(begin_ + bytes_));
}

RankBuffers::RankBuffers(const PreparedCall& prepared, int rank)
    : prepared_(prepared),
      rank_(rank),
      input_(prepared.input(rank)),
      in_(prepared.placement().in_place ? 0 : input_.size(), prepared.placement().in_offset,
          is_registered(prepared, rank, Registered::inputs)),
      out_(prepared.placement().in_place
               ? std::max(prepared.in_count(rank), prepared.out_count(rank)) * size_of(prepared.call().type)
               : prepared.out_count(rank) * size_of(prepared.call().type),
           prepared.placement().out_offset, is_registered(prepared, rank, Registered::outputs)) {
  if (input_.empty()) return;
  const Call& call = prepared.call();
  const bool own_block =
      prepared.placement().in_place &&
      (call.collective == Collective::allgather || (call.collective == Collective::gather && rank == call.root));
  std::byte* const place = prepared.placement().in_place ? out_.data() : in_.data();
  std::memcpy(place + (own_block ? static_cast<std::size_t>(rank) * input_.size() : 0), input_.data(), input_.size());
}

Arguments RankBuffers::arguments() {
  const Call& call = prepared_.call();
  if (call.collective == Collective::barrier) return {.call = call};
  if (prepared_.placement().in_place) return {.call = call, .in = out_.data(), .out = out_.data()};
  const bool gives_only =
      (call.collective == Collective::reduce || call.collective == Collective::gather) && rank_ != call.root;
  return {.call = call, .in = in_.data(), .out = gives_only ? nullptr : out_.data()};
}

bool RankBuffers::is_registered(const PreparedCall& prepared, int rank, Registered kind) noexcept {
  const Registered registered = prepared.placement().registered;
  return registered == Registered::all || registered == kind || (registered == Registered::some && rank % 2 == 1);
}

bool RankBuffers::must_keep_input() const noexcept {
  return !prepared_.placement().in_place || !prepared_.gets_result(rank_);
}

void RankBuffers::check() const {
  const auto fail = [&](const char* what) {
    throw std::runtime_error(fmt::format("{} on rank {} of {}", what, rank_, prepared_.describe()));
  };
  if (!in_.intact() || !out_.intact()) fail("memory beside the buffers has changed");
  if (must_keep_input()) {
    const auto now = prepared_.placement().in_place ? out_.content() : in_.content();
    if (!same_bytes(input_, now.first(input_.size()))) fail("the input has changed");
  }
  if (!prepared_.placement().in_place && !prepared_.gets_result(rank_)) {
    if (!all_guard(out_.content())) fail("an output without a result has changed");
    return;
  }
  const std::span<const std::byte> expected = prepared_.expected(rank_);
  const std::size_t count = expected.size() / size_of(prepared_.call().type);
  if (!same_elements(out_.content().data(), expected.data(), count, prepared_.call().type)) fail("a wrong result");
}

Task<> perform(const Algorithm& algorithm, Transport& transport, const PreparedCall& prepared) {
  RankBuffers buffers(prepared, transport.rank());
  co_await carry_out(algorithm, transport, buffers.arguments());
  buffers.check();
}

void carry_out_now(const Algorithm& algorithm, Transport& transport, const Arguments& arguments) {
  begin_now(algorithm, transport, arguments.call);
  algorithm.now(transport, arguments);
  finish(transport, arguments);
}

void perform_now(const Algorithm& algorithm, Transport& transport, const PreparedCall& prepared) {
  RankBuffers buffers(prepared, transport.rank());
  carry_out_now(algorithm, transport, buffers.arguments());
  buffers.check();
}

}  // namespace chorus::test
