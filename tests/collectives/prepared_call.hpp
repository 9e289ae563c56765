// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "algorithm.hpp"

#include <chorus/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace chorus::test {

/// Whose buffers are registered memory: nobody's, those of every other rank, everybody's, or of these the inputs or the
/// outputs alone.
enum class Registered : std::uint8_t { none, some, all, inputs, outputs };
inline constexpr int registered_count = 5;

/// How a call's buffers lie in memory.
struct Placement {
  bool in_place = false;
  std::size_t in_offset = 0;  ///< bytes after a 64-byte boundary
  std::size_t out_offset = 0;
  Registered registered = Registered::none;

  /// That of the call with this number in a series: in turn all ways, whose offsets suit elements of `element` bytes.
  [[nodiscard]] static Placement of_call(std::size_t number, bool in_place, std::size_t element);
};

/// A call with what every rank puts in and what it must get, which is computed once for all that are the same but for
/// their placement. Shared by all ranks; does not change.
class PreparedCall {
 public:
  PreparedCall(const Call& call, int ranks, const Placement& placement);

  [[nodiscard]] const Call& call() const noexcept { return call_; }
  [[nodiscard]] const Placement& placement() const noexcept { return placement_; }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::string describe() const;

  /// Elements of this rank's `in` and `out`; 0 where it has none.
  [[nodiscard]] std::size_t in_count(int rank) const noexcept;
  [[nodiscard]] std::size_t out_count(int rank) const noexcept;
  /// False where its `out` holds nothing afterwards that it did not hold before.
  [[nodiscard]] bool gets_result(int rank) const noexcept;
  /// The content of `in`.
  [[nodiscard]] std::span<const std::byte> input(int rank) const;
  /// What `out` must hold afterwards; nothing where it gets no result.
  [[nodiscard]] std::span<const std::byte> expected(int rank) const;

 private:
  Call call_;
  int ranks_;
  Placement placement_;
  class Content;
  std::shared_ptr<Content> content_;
};

/// One rank's buffers for a call, between guards.
class RankBuffers {
 public:
  RankBuffers(const PreparedCall& prepared, int rank);

  [[nodiscard]] Arguments arguments();
  /// Throws std::runtime_error where the result is wrong, or anything changed that must not.
  void check() const;
  [[nodiscard]] std::span<const std::byte> out() const { return out_.content(); }

 private:
  /// Memory with a pattern before and after it.
  class Guarded {
   public:
    Guarded(std::size_t bytes, std::size_t offset, bool registered);
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;
    ~Guarded();
    [[nodiscard]] std::byte* data() noexcept { return memory_.data() + begin_; }
    [[nodiscard]] std::span<const std::byte> content() const noexcept { return memory_.subspan(begin_, bytes_); }
    [[nodiscard]] bool intact() const noexcept;

   private:
    std::size_t bytes_;
    std::vector<std::byte> ordinary_;
    std::vector<std::byte, Allocator<std::byte>> registered_;
    std::span<std::byte> memory_;  // one of them
    std::size_t begin_;
  };

  /// Of a buffer of this kind, `inputs` or `outputs`.
  [[nodiscard]] static bool is_registered(const PreparedCall& prepared, int rank, Registered kind) noexcept;
  [[nodiscard]] bool must_keep_input() const noexcept;

  const PreparedCall& prepared_;
  int rank_;
  std::span<const std::byte> input_;
  Guarded in_;
  Guarded out_;  // in place: both
};

/// True for an algorithm of a vendor of collectives or devices, of whom simulated ranks and threads have none.
[[nodiscard]] inline bool needs_vendor(const Algorithm& algorithm) noexcept {
  return algorithm.name == "native" || algorithm.memory == Memory::device;
}

/// Carries a call out by the algorithm's `now`.
void carry_out_now(const Algorithm& algorithm, Transport& transport, const Arguments& arguments);

/// Carries `prepared` out by `algorithm` on this rank and checks the result.
Task<> perform(const Algorithm& algorithm, Transport& transport, const PreparedCall& prepared);
/// The same by the algorithm's `now`.
void perform_now(const Algorithm& algorithm, Transport& transport, const PreparedCall& prepared);

}  // namespace chorus::test
