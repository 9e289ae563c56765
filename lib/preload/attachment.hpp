// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "preload/block_places.hpp"
#include "preload/paths.hpp"

#include <chorus/communicator.hpp>
#include <chorus/error.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace chorus::preload {

/// False where every call goes to MPI: before MPI_Init, from MPI_Finalize on, with CHORUS_DISABLE=1.
[[nodiscard]] bool takes_part();
/// PMPI_Finalize: prints the report, and MPI has all calls that its end may make, of functions that delete attributes.
int finalize();

/// What a call's arguments say about its offer: of a buffer only whether there is one, and whether MPI_IN_PLACE stands
/// for it.
class LastArguments {
 public:
  template <class... Arguments>
  [[nodiscard]] bool are(const void* function, Arguments... arguments) const noexcept {
    std::size_t place = 0;
    return function == function_ && ((bits_[place++] == bits_of(arguments)) && ...);
  }
  template <class... Arguments>
  void set(const void* function, Arguments... arguments) noexcept {
    static_assert(sizeof...(arguments) <= most);
    std::size_t place = 0;
    function_ = function;
    ((bits_[place++] = bits_of(arguments)), ...);
  }
  void forget() noexcept { function_ = nullptr; }

 private:
  static constexpr std::size_t most = 9;  // MPI_Alltoallw's

  template <class Argument>
  [[nodiscard]] static std::uintptr_t bits_of(Argument argument) noexcept {
    if constexpr (std::is_same_v<Argument, const void*> || std::is_same_v<Argument, void*>)
      return argument == MPI_IN_PLACE ? 2 : argument == nullptr ? 1 : 0;
    else if constexpr (std::is_pointer_v<Argument>)
      return reinterpret_cast<std::uintptr_t>(argument);
    else
      return static_cast<std::uintptr_t>(argument);
  }

  const void* function_ = nullptr;
  std::array<std::uintptr_t, most> bits_{};
};

/// What is kept with one of the program's communicators: an attribute of MPI's, made at its first intercepted call and
/// freed with it.
class Attachment {
 public:
  /// That of `comm`; null where the library does not take part, and for MPI_COMM_NULL.
  [[nodiscard]] static Attachment* of(MPI_Comm comm);

  explicit Attachment(MPI_Comm comm);

  /// Path::chorus, or why all calls on this communicator go to MPI.
  [[nodiscard]] Path path() const noexcept { return path_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool has(int rank) const noexcept { return rank >= 0 && rank < size_; }
  /// A call comes that chorus could carry out. True where it may: not the first few, as many a communicator is made for
  /// one use, and the set-up takes as long as some hundred short calls. Then collective over `comm`, which is that of
  /// this attachment; throws chorus::Error.
  [[nodiscard]] bool set_up(MPI_Comm comm) { return communicator_ || set_up_in_time(comm); }
  /// A call has failed because of a setting, on all ranks alike and before it has done anything: all calls on this
  /// communicator go to MPI from here on. Warns of it.
  void give_up(const Error& error);
  /// After the set-up: the chooser's answer, remembered as programs repeat their calls.
  [[nodiscard]] bool left_to_vendor(const Call& call) {
    return decided_ && same_kind(last_, call) ? last_left_ : choose(call);
  }
  [[nodiscard]] const Communicator& communicator() const noexcept { return *communicator_; }
  /// True once the chooser's answers are for good.
  [[nodiscard]] bool decided() const noexcept { return decided_; }

  LastArguments last_arguments;  ///< which got `offer`
  Offer offer;
  BlockPlaces in_blocks, out_blocks;  ///< of that call, where it has arrays that say so

 private:
  bool set_up_in_time(MPI_Comm comm);
  bool choose(const Call& call);

  Path path_ = Path::chorus;
  int rank_ = 0;
  int size_ = 0;
  int calls_ = 0;  // before the set-up; the same on all ranks
  std::optional<Communicator> communicator_;
  Call last_;
  bool last_left_ = false;
  bool decided_ = false;  // about last_
};

}  // namespace chorus::preload
