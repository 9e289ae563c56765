// SPDX-License-Identifier: Apache-2.0
#include "transport/registered_memory.hpp"

#include "base/machine.hpp"
#include "base/settings.hpp"
#include "transport/segment.hpp"

#include <chorus/error.hpp>
#include <chorus/memory.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace chorus {
namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t huge_page = Segment::huge_page;

class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::size_t bytes) noexcept {
    std::snprintf(text_, sizeof text_, "chorus::allocate: no memory for %zu bytes", bytes);
  }
  [[nodiscard]] const char* what() const noexcept override { return text_; }

 private:
  char text_[80];
};

/// What the program has got. Never destroyed: static objects may have some of it.
struct Registry {
  std::mutex mutex;
  std::map<const void*, Segment::Lease> leases;
  std::atomic<const SegmentAddress*> segment = nullptr;  ///< where they are, once there was one
};
Registry& registry() {
  static auto* const all = new Registry;
  return *all;
}

/// What communicators make of it is for a rank 0 to say; here the process's own environment counts.
bool is_wanted() {
  static const bool wanted = [] {
    try {
      const SharedMemory memory = Settings::parse(environ).shared_memory;
      return memory == SharedMemory::automatic || memory == SharedMemory::memfd;
    } catch (const Error&) {  // said where a communicator is made
      return true;
    }
  }();
  return wanted;
}

void advise(const Segment::Lease& lease, int advice) noexcept { madvise(lease.data(), lease.bytes(), advice); }

/// Null where there is none.
void* registered(std::size_t bytes) {
  const std::shared_ptr<Segment>& segment = Segment::of_this_process();
  if (!segment) return nullptr;
  Segment::Lease lease = Segment::lease(segment, bytes, bytes < huge_page ? Segment::page : huge_page);
  if (!lease) return nullptr;
  advise(lease, MADV_DODUMP);
  if (bytes >= huge_page) advise(lease, MADV_HUGEPAGE);
  void* const data = lease.data();
  Registry& all = registry();
  const std::scoped_lock lock(all.mutex);
  all.leases.emplace(data, std::move(lease));
  all.segment.store(&segment->address(), std::memory_order_release);
  return data;
}

void* ordinary(std::size_t bytes) {
  constexpr std::size_t addresses = std::size_t{1} << 48U;  // that a process has at most
  if (bytes > addresses) throw OutOfMemory(bytes);
  void* const data =
      std::aligned_alloc(alignment, (std::max(bytes, alignment) + alignment - 1) / alignment * alignment);
  if (data == nullptr) throw OutOfMemory(bytes);
  return data;
}

}  // namespace

void* allocate(std::size_t bytes) {
  void* const data = bytes >= machine::registered_from && is_wanted() ? registered(bytes) : nullptr;
  return data != nullptr ? data : ordinary(bytes);
}

void deallocate(void* data) noexcept {
  if (!is_registered(data, 1)) return std::free(data);
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  auto found = all.leases.extract(data);
  lock.unlock();
  if (found.empty()) {
    std::fprintf(stderr,
                 "chorus::deallocate: %p was not allocated, or was given back before; pass what chorus::allocate "
                 "returned, and once\n",
                 data);
    std::abort();
  }
  advise(found.mapped(), MADV_DONTDUMP);
  if (found.mapped().bytes() >= huge_page)
    advise(found.mapped(), MADV_NOHUGEPAGE);  // communicators, which use little of what they have, may get it next
}

bool is_registered(const void* data, std::size_t bytes) noexcept {
  const SegmentAddress* const segment = registry().segment.load(std::memory_order_acquire);
  if (segment == nullptr) return false;
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(data) - segment->base;
  return offset < segment->bytes && bytes <= segment->bytes - offset;
}

std::string describe_registered_memory() {
  const std::shared_ptr<Segment>& segment = Segment::of_this_process();
  if (!is_wanted() || !segment) return "chorus::allocate: ordinary memory";
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string ways;
  std::getline(file, ways);
  const std::size_t open = ways.find('[');
  const std::string way = open == std::string::npos ? "never" : ways.substr(open + 1, ways.find(']') - open - 1);
  return fmt::format(
      "chorus::allocate: up to {} GiB of registered memory a rank, huge pages {}", segment->address().bytes >> 30U,
      way == "never" || way == "deny" ? fmt::format("off (/sys/kernel/mm/transparent_hugepage/shmem_enabled: {})", way)
                                      : fmt::format("from 2 MiB on ({})", way));
}

}  // namespace chorus
