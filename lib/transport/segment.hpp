// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

// Memory that one process owns and others of its user on the node may map.
//
// Preferred: an anonymous memfd, opened by the others through /proc/PID/fd and sealed against shrinking. It has no name
// that could stay behind, be guessed or be squatted on, and does not count against the size of /dev/shm. Where that way
// is closed (other PID namespace, hidden /proc): a file in /dev/shm with a random name, created exclusively for this
// user alone, reserved in full, and unlinked once everybody has opened it.
namespace chorus {

/// Where a process's memory is to be found. Copied to other processes as it stands.
struct SegmentAddress {
  enum class Kind : std::uint8_t { none, memfd, named };
  Kind kind = Kind::none;
  std::int32_t process = 0;            ///< memfd: the owner's PID ...
  std::int32_t descriptor = 0;         ///< ... and its file descriptor
  std::array<char, 64> name{};         ///< named: the file's path
  std::array<std::uint64_t, 2> key{};  ///< random; stands at the start of the segment as proof that it is the right one
  std::uint64_t bytes = 0;
  std::uint64_t base = 0;  ///< where it lies in its owner's address space
};

/// A mapped segment; unmapped with the last holder.
class Mapping {
 public:
  Mapping(std::byte* base, std::size_t bytes) noexcept : base_(base), bytes_(bytes) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  [[nodiscard]] std::byte* base() const noexcept { return base_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Maps the segment another process has described; once, however often it is asked for. Null where it cannot be
  /// reached, belongs to another user, is not sealed, or is another one than described.
  [[nodiscard]] static std::shared_ptr<Mapping> attach(const SegmentAddress& address);

 private:
  [[nodiscard]] static std::shared_ptr<Mapping> open_and_map(const SegmentAddress& address);

  std::byte* base_;
  std::size_t bytes_;
};

/// The segment this process lends pieces of. Made when first asked for.
class Segment {
 public:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t huge_page = std::size_t{2} << 20U;
  static constexpr const char* folder = "/dev/shm";  ///< of the named ones

  /// A piece: zeroed, page-aligned; its pages go back to the system with it, unless a forked child does that.
  class Lease {
   public:
    Lease() noexcept = default;
    Lease(std::shared_ptr<Segment> segment, std::size_t offset, std::size_t bytes) noexcept;
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&& other) noexcept;
    ~Lease();
    [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }  ///< whole pages
    [[nodiscard]] std::byte* data() const noexcept { return segment_->mapping_->base() + offset_; }
    /// Takes its memory from the system now, not when it is touched. False where there is none.
    [[nodiscard]] bool commit() const noexcept;
    void unlink() const noexcept;  ///< as its segment's
    [[nodiscard]] const std::shared_ptr<Mapping>& mapping() const noexcept { return segment_->mapping_; }
    [[nodiscard]] explicit operator bool() const noexcept { return segment_ != nullptr; }

   private:
    std::shared_ptr<Segment> segment_;
    std::size_t offset_ = 0;
    std::size_t bytes_ = 0;
  };

  /// The one of this process for all its communicators and what it allocates; null where the system refuses it.
  [[nodiscard]] static const std::shared_ptr<Segment>& of_this_process();
  /// A new segment; null where the system refuses.
  [[nodiscard]] static std::shared_ptr<Segment> make_memfd();
  /// Where it refuses this one, errno says why.
  [[nodiscard]] static std::shared_ptr<Segment> make_named(std::size_t bytes);
  /// The bytes that are free for named segments; 0 also where that cannot be found out.
  [[nodiscard]] static std::size_t room_for_named() noexcept;
  Segment(SegmentAddress address, int descriptor, std::shared_ptr<Mapping> mapping);
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  [[nodiscard]] const SegmentAddress& address() const noexcept { return address_; }
  /// Empty where no piece of this length is free, and in a forked child. `segment` is the one asked; the piece begins
  /// at a multiple of `alignment`, whole pages, from the segment's beginning. Also empty where a system that promises
  /// no more memory than it has (vm.overcommit_memory = 2) has not as much: there a touch would end the process.
  [[nodiscard]] static Lease lease(const std::shared_ptr<Segment>& segment, std::size_t bytes,
                                   std::size_t alignment = page);
  /// Removes the name, if it has one: whoever has not attached never will.
  void unlink() noexcept;

 private:
  [[nodiscard]] static Lease take(const std::shared_ptr<Segment>& segment, std::size_t bytes, std::size_t alignment);
  void give_back(std::size_t offset, std::size_t bytes) noexcept;

  SegmentAddress address_;
  int descriptor_;
  int process_;  // that made it; the children it forks share the memory, but must not give it away
  std::shared_ptr<Mapping> mapping_;
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> free_;  // offset -> bytes
};

}  // namespace chorus
