// SPDX-License-Identifier: Apache-2.0
#include "transport/segment.hpp"

#include "task/signals_blocked.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace chorus {
namespace {

std::size_t limit_of(decltype(RLIMIT_AS) what, std::size_t otherwise) noexcept {
  rlimit limit{};
  const bool limited = getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? std::min<std::size_t>(limit.rlim_cur, otherwise) : otherwise;
}

/// As long as the machine's memory, as only what is touched takes some of it; but every rank of a node maps those of
/// all, and together they are to take no more than a quarter of the addresses it may have.
std::size_t memfd_bytes() noexcept {
  constexpr std::size_t addresses = std::size_t{1} << 47U;
  constexpr std::size_t least = std::size_t{1} << 34U;
  const auto machine =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto ranks = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
  const std::size_t share = limit_of(RLIMIT_AS, addresses) / 4 / ranks;
  return limit_of(RLIMIT_FSIZE, std::min(std::max(machine, least), share)) / Segment::page * Segment::page;
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Takes the memory for a part of a file from the system; 0, or why it has none.
int reserve(int descriptor, std::size_t offset, std::size_t bytes) noexcept {
  if (limit_of(RLIMIT_FSIZE, offset + bytes) < offset + bytes) return EFBIG;  // the system would send SIGXFSZ
  const SignalsBlocked blocked;  // the system gives up what takes long where one comes, as a profiler's do all the time
  return posix_fallocate(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes));
}

/// Begins at a multiple of the length of a huge page, so that there can be such.
std::shared_ptr<Mapping> map(int descriptor, std::size_t bytes) {
  constexpr std::size_t huge_page = Segment::huge_page;
  void* const room = mmap(nullptr, bytes + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(room);
  const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
  std::byte* const base = begin + before;
  if (before > 0) munmap(begin, before);
  munmap(base + (bytes + Segment::page - 1) / Segment::page * Segment::page, huge_page - before);
  if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor, 0) == MAP_FAILED) {
    munmap(base, bytes);
    return nullptr;
  }
  madvise(base, bytes, MADV_DONTDUMP);  // whoever dumps it would touch every page
  return std::make_shared<Mapping>(base, bytes);
}

std::shared_ptr<Segment> finish(SegmentAddress address, Descriptor& descriptor) {
  std::shared_ptr<Mapping> mapping = map(descriptor.get(), address.bytes);
  if (!mapping || getrandom(address.key.data(), sizeof address.key, 0) != sizeof address.key) return nullptr;
  std::memcpy(mapping->base(), address.key.data(), sizeof address.key);
  address.base = reinterpret_cast<std::uint64_t>(mapping->base());
  return std::make_shared<Segment>(address, descriptor.release(), std::move(mapping));
}

std::string path_of(const SegmentAddress& address) {
  if (address.kind == SegmentAddress::Kind::memfd) {
    return fmt::format("/proc/{}/fd/{}", address.process, address.descriptor);
  }
  return {address.name.data(), strnlen(address.name.data(), address.name.size())};
}

bool is_ours(int descriptor, const SegmentAddress& address) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (status.st_uid != geteuid() || static_cast<std::uint64_t>(status.st_size) != address.bytes) return false;
  return address.kind != SegmentAddress::Kind::memfd || (fcntl(descriptor, F_GET_SEALS) & F_SEAL_SHRINK) != 0;
}

bool system_counts_strictly() {
  static const bool strictly = [] {
    int policy = 0;
    return std::ifstream("/proc/sys/vm/overcommit_memory") >> policy && policy == 2;
  }();
  return strictly;
}

}  // namespace

Mapping::~Mapping() { munmap(base_, bytes_); }

std::shared_ptr<Mapping> Mapping::attach(const SegmentAddress& address) {
  if (address.kind == SegmentAddress::Kind::none || address.bytes < Segment::page) return nullptr;
  static auto* const mutex = new std::mutex;
  static auto* const known = new std::map<std::array<std::uint64_t, 2>, std::weak_ptr<Mapping>>;
  const std::scoped_lock lock(*mutex);
  std::erase_if(*known, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Mapping>& entry = (*known)[address.key];
  std::shared_ptr<Mapping> mapping = entry.lock();
  if (!mapping) entry = mapping = open_and_map(address);
  return mapping;
}

std::shared_ptr<Mapping> Mapping::open_and_map(const SegmentAddress& address) {
  const int no_follow = address.kind == SegmentAddress::Kind::named ? O_NOFOLLOW : 0;  // /proc/PID/fd are links
  const Descriptor descriptor(open(path_of(address).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | no_follow));
  if (descriptor.get() < 0 || !is_ours(descriptor.get(), address)) return nullptr;
  std::shared_ptr<Mapping> mapping = map(descriptor.get(), address.bytes);
  if (mapping && std::memcmp(mapping->base(), address.key.data(), sizeof address.key) != 0) return nullptr;
  return mapping;
}

const std::shared_ptr<Segment>& Segment::of_this_process() {
  // Never destroyed: static objects may have memory of it.
  static auto* const segment = new std::shared_ptr<Segment>(make_memfd());
  return *segment;
}

std::shared_ptr<Segment> Segment::make_memfd() {
  Descriptor descriptor(memfd_create("chorus", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const std::size_t bytes = memfd_bytes();
  if (descriptor.get() < 0 || ftruncate(descriptor.get(), static_cast<off_t>(bytes)) != 0) return nullptr;
  if (fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return nullptr;
  SegmentAddress address;
  address.kind = SegmentAddress::Kind::memfd;
  address.process = getpid();
  address.descriptor = descriptor.get();
  address.bytes = bytes;
  return finish(address, descriptor);
}

std::shared_ptr<Segment> Segment::make_named(std::size_t bytes) {
  std::array<std::uint64_t, 2> random{};
  if (getrandom(random.data(), sizeof random, 0) != sizeof random) return nullptr;
  const std::string path = fmt::format("{}/chorus-{:016x}{:016x}", folder, random[0], random[1]);
  Descriptor descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (descriptor.get() < 0) return nullptr;
  SegmentAddress address;
  address.kind = SegmentAddress::Kind::named;
  address.bytes = (bytes + page - 1) / page * page + page;
  path.copy(address.name.data(), address.name.size() - 1);
  // Reserved in full: a full folder is then an error here and not a crash at the first touch.
  errno = reserve(descriptor.get(), 0, address.bytes);
  std::shared_ptr<Segment> segment = errno == 0 ? finish(address, descriptor) : nullptr;
  if (!segment) {
    const int refused = errno;
    ::unlink(path.c_str());
    errno = refused;
  }
  return segment;
}

std::size_t Segment::room_for_named() noexcept {
  struct statvfs status {};
  if (statvfs(folder, &status) != 0) return 0;
  return static_cast<std::size_t>(status.f_bavail) * static_cast<std::size_t>(status.f_frsize);
}

Segment::Segment(SegmentAddress address, int descriptor, std::shared_ptr<Mapping> mapping)
    : address_(address), descriptor_(descriptor), process_(getpid()), mapping_(std::move(mapping)) {
  free_.emplace(page, address_.bytes - page);
}

Segment::~Segment() {
  unlink();
  close(descriptor_);
}

void Segment::unlink() noexcept {
  if (address_.kind == SegmentAddress::Kind::named && address_.name[0] != '\0') ::unlink(address_.name.data());
  address_.name = {};
}

Segment::Lease Segment::lease(const std::shared_ptr<Segment>& segment, std::size_t bytes, std::size_t alignment) {
  Lease lease = take(segment, bytes, alignment);
  if (lease && system_counts_strictly() && !lease.commit()) return {};
  return lease;
}

Segment::Lease Segment::take(const std::shared_ptr<Segment>& segment, std::size_t bytes, std::size_t alignment) {
  if (bytes > segment->address_.bytes || segment->process_ != getpid()) return {};
  const std::size_t whole = (bytes + page - 1) / page * page;
  const std::scoped_lock lock(segment->mutex_);
  for (const auto& [offset, length] : segment->free_) {
    const std::size_t start = (offset + alignment - 1) / alignment * alignment;
    const std::size_t before = start - offset;
    if (length < before + whole) continue;
    const std::size_t rest = length - before - whole;
    if (rest > 0) segment->free_.emplace(start + whole, rest);
    if (before > 0) {
      segment->free_[offset] = before;
    } else {
      segment->free_.erase(offset);
    }
    return {segment, start, whole};
  }
  return {};
}

void Segment::give_back(std::size_t offset, std::size_t bytes) noexcept {
  if (process_ != getpid()) return;
  const std::scoped_lock lock(mutex_);
  // What is leased again must be zero; a hole is, and takes no memory.
  if (fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(bytes)) != 0) {
    std::memset(mapping_->base() + offset, 0, bytes);
  }
  auto piece = free_.emplace(offset, bytes).first;
  if (const auto next = std::next(piece); next != free_.end() && offset + bytes == next->first) {
    piece->second += next->second;
    free_.erase(next);
  }
  if (piece == free_.begin()) return;
  if (const auto previous = std::prev(piece); previous->first + previous->second == offset) {
    previous->second += piece->second;
    free_.erase(piece);
  }
}

Segment::Lease::Lease(std::shared_ptr<Segment> segment, std::size_t offset, std::size_t bytes) noexcept
    : segment_(std::move(segment)), offset_(offset), bytes_(bytes) {}

Segment::Lease::Lease(Lease&& other) noexcept = default;

Segment::Lease& Segment::Lease::operator=(Lease&& other) noexcept {
  std::swap(segment_, other.segment_);
  std::swap(offset_, other.offset_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

bool Segment::Lease::commit() const noexcept { return reserve(segment_->descriptor_, offset_, bytes_) == 0; }

void Segment::Lease::unlink() const noexcept { segment_->unlink(); }

Segment::Lease::~Lease() {
  if (segment_) segment_->give_back(offset_, bytes_);
}

}  // namespace chorus
