// SPDX-License-Identifier: Apache-2.0
#include "node_speed.hpp"

#include "kernels/kernels.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <thread>

namespace chorus::bench {
namespace {

using Clock = std::chrono::steady_clock;
using kernels::Store;

constexpr std::size_t page = 4096;
constexpr std::size_t shortest = std::size_t{16} << 10U;
constexpr std::size_t shared_memory = std::size_t{32} << 20U;  // containers often have 64 MiB in all
constexpr int repetitions = 12;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

/// The shortest of the times `us` of repetitions, in each of which the slowest rank counts.
double least_us(std::array<double, repetitions> us) {
  MPI_Allreduce(MPI_IN_PLACE, us.data(), repetitions, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return *std::ranges::min_element(us);
}

/// The rate at which all ranks carry out `step`, which handles `bytes`.
template <class Step>
double rate_of(std::size_t bytes, Step step) {
  std::array<double, repetitions> us{};
  step();  // warms the caches
  for (double& one : us) {
    MPI_Barrier(MPI_COMM_WORLD);
    const Clock::time_point start = Clock::now();
    step();
    one = us_since(start);
  }
  return static_cast<double>(bytes) / least_us(us);
}

std::atomic_ref<std::uint64_t> flag_at(std::byte* address) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(address));
}

/// Spins at first; where ranks share a processor, lets the other one run.
void wait_for(std::byte* flag, std::uint64_t value) {
  constexpr int spins = 10000;
  for (int spin = 0; flag_at(flag).load(std::memory_order_acquire) != value; ++spin) {
    if (spin > spins) std::this_thread::yield();
  }
}

}  // namespace

NodeMeter::NodeMeter(std::size_t largest) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  const std::size_t share = shared_memory / static_cast<std::size_t>(ranks_);
  longest_ = whole_pages(std::clamp(largest, shortest, std::max(shortest, share)));
  in_.resize(longest_);
  out_.resize(longest_);

  void* base = nullptr;
  const auto bytes = static_cast<MPI_Aint>(longest_ + 2 * page);  // a page for the flag, one to align
  MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&base), &window_);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  mine_ = area_of(rank_);
  next_ = area_of((rank_ + 1) % ranks_);
  peer_ = area_of(rank_ == 0 ? 1 : 0).flag;
  std::memset(mine_.flag, 0, page);
  std::memset(mine_.data, 0, longest_);
  neighbour_ = readable_neighbour();
  MPI_Barrier(MPI_COMM_WORLD);
}

NodeMeter::~NodeMeter() {
  if (std::uncaught_exceptions() > 0) return;  // the other ranks may never come here
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

NodeMeter::Area NodeMeter::area_of(int rank) const {
  MPI_Aint bytes = 0;
  int unit = 0;
  void* base = nullptr;
  MPI_Win_shared_query(window_, rank, &bytes, &unit, static_cast<void*>(&base));
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  std::byte* aligned = static_cast<std::byte*>(base) + (whole_pages(address) - address);
  return {.flag = aligned, .data = aligned + page};
}

NodeMeter::Neighbour NodeMeter::readable_neighbour() const {
  const Neighbour mine = {.pid = getpid(), .probe = memory_probe(), .in = in_.data()};
  Neighbour next;
  constexpr int bytes = sizeof(Neighbour);
  MPI_Sendrecv(&mine, bytes, MPI_BYTE, (rank_ + ranks_ - 1) % ranks_, 0, &next, bytes, MPI_BYTE, (rank_ + 1) % ranks_,
               0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int readable = can_reach(next.pid, next.probe) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &readable, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return readable == 1 ? next : Neighbour();
}

NodeSpeed NodeMeter::measure(std::size_t bytes) {
  const std::size_t length = std::clamp(bytes, shortest, longest_) / sizeof(float) * sizeof(float);
  NodeSpeed speed;
  speed.line_us = line_us();
  measure_ways(length, speed);
  speed.system_read = system_read(length);
  const kernels::Reduce add = kernels::reduce(DataType::float32, ReduceOp::sum);
  const std::vector<std::byte> second(length);
  const std::array<const std::byte*, 2> inputs = {in_.data(), second.data()};
  for (const Store store : {Store::cached, Store::streamed}) {
    const double copy = rate_of(length, [&] { kernels::copy(out_.data(), in_.data(), length, store); });
    const double reduce = rate_of(length, [&] { add(out_.data(), inputs, length / sizeof(float), store); });
    speed.copy = std::max(speed.copy, copy);
    speed.reduce = std::max(speed.reduce, reduce);
  }
  return speed;
}

double NodeMeter::line_us() {
  constexpr std::uint64_t rounds = 200;
  std::array<double, repetitions> us{};
  std::uint64_t value = flag_at(mine_.flag).load(std::memory_order_relaxed);
  for (double& one : us) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_ > 1) continue;
    const Clock::time_point start = Clock::now();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      ++value;
      if (rank_ == 1) wait_for(peer_, value);
      flag_at(mine_.flag).store(value, std::memory_order_release);
      if (rank_ == 0) wait_for(peer_, value);
    }
    one = us_since(start) / (2 * rounds);
  }
  return least_us(us);
}

void NodeMeter::measure_ways(std::size_t bytes, NodeSpeed& speed) {
  const auto length = static_cast<double>(bytes);
  for (const Store write_by : {Store::cached, Store::streamed}) {
    NodeSpeed::Way& way = write_by == Store::cached ? speed.cached : speed.streamed;
    for (const Store read_by : {Store::cached, Store::streamed}) {
      std::array<double, repetitions> write_us{}, read_us{};
      for (std::size_t repetition = 0; repetition < repetitions; ++repetition) {
        MPI_Barrier(MPI_COMM_WORLD);
        const Clock::time_point writing = Clock::now();
        kernels::copy(mine_.data, in_.data(), bytes, write_by);
        write_us[repetition] = us_since(writing);
        MPI_Barrier(MPI_COMM_WORLD);
        const Clock::time_point reading = Clock::now();
        kernels::copy(out_.data(), next_.data, bytes, read_by);
        read_us[repetition] = us_since(reading);
      }
      way.write = std::max(way.write, length / least_us(write_us));
      way.read = std::max(way.read, length / least_us(read_us));
    }
  }
}

double NodeMeter::system_read(std::size_t bytes) {
  if (neighbour_.pid == 0) return 0;
  return rate_of(bytes, [&] { static_cast<void>(read_process(neighbour_.pid, out_.data(), neighbour_.in, bytes)); });
}

}  // namespace chorus::bench
