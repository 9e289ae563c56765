// SPDX-License-Identifier: Apache-2.0
#include "carry_out.hpp"
#include "task/arena.hpp"
#include "transport/simulated.hpp"
#include "worlds/worlds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// In a function of its own, as GCC warns of a free inlined beside a new that is not.
[[gnu::noinline]] void give_back(void* memory) noexcept { std::free(memory); }

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

namespace chorus::test {
namespace {

constexpr int ranks = 4;
constexpr int stretches = 11;
constexpr int calls_in_a_stretch = 30;

class Allocations : public testing::TestWithParam<const Algorithm*> {};

/// No rank goes on before rank 0 has come here.
Task<> wait_for_rank_0(Transport& transport) {
  if (transport.rank() > 0) co_return co_await transport.receive({}, 0);
  for (int peer = 1; peer < ranks; ++peer) co_await transport.send({}, peer);
}

/// Rank 0's counts of the allocations of all ranks, the least that a stretch of calls makes: how far threads run ahead
/// of each other, and so what is kept for later, grows at any time, but ever more seldom.
long allocations_of(World& world, const Algorithm& algorithm, const Call& call) {
  long least = std::numeric_limits<long>::max();
  world.run([&](Transport& transport) -> Task<> {
    std::vector<std::byte> in(call.bytes());
    std::vector<std::byte> out(call.bytes());
    co_await wait_for_rank_0(transport);
    for (int stretch = 0; stretch < stretches; ++stretch) {
      const long before = allocations;
      for (int number = 0; number < calls_in_a_stretch; ++number) {
        co_await carry_out(algorithm, transport, {call, in.data(), out.data()});
      }
      if (transport.rank() == 0) least = std::min(least, allocations - before);
    }
    co_await wait_for_rank_0(transport);  // nobody frees or allocates before rank 0 has counted
  });
  return least;
}

TEST_P(Allocations, EndWithTheFirstCalls) {
  for (const WorldKind kind : {WorldKind::simulated, WorldKind::threads}) {
    for (const auto& [nodes, count] : std::vector<std::pair<std::vector<int>, std::size_t>>{
             {{}, 1}, {{}, 1000}, {{0, 0, 1, 1}, 1}, {{0, 0, 1, 1}, 1000}}) {
      const auto world = make_world({.kind = kind, .ranks = ranks, .nodes = nodes, .slot_bytes = 1024});
      const Call call{Collective::allreduce, DataType::float32, ReduceOp::sum, 0, count};
      if (!GetParam()->applies(problem_of(call, world->transport(0)))) continue;
      EXPECT_EQ(allocations_of(*world, *GetParam(), call), 0) << kind << ", " << count << " elements";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Allocations, testing::ValuesIn(algorithms(Collective::allreduce)),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(FrameArena, KeepsSomeFramesButNotAll) {
  constexpr std::size_t bytes = 1000;
  std::vector<void*> frames(10'000);
  for (void*& frame : frames) frame = frame_arena::allocate(bytes);
  for (void* const frame : frames) frame_arena::release(frame, bytes);
  const long before = allocations;
  frames[0] = frame_arena::allocate(bytes);
  EXPECT_EQ(allocations, before);
  for (std::size_t number = 1; number < frames.size(); ++number) frames[number] = frame_arena::allocate(bytes);
  EXPECT_GT(allocations, before);
  for (void* const frame : frames) frame_arena::release(frame, bytes);
}

TEST(AllocationCount, SeesAnAllocation) {
  const long before = allocations;
  const std::vector<int> something(1000);
  EXPECT_GT(allocations, before);
}

}  // namespace
}  // namespace chorus::test
