// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call.hpp"
#include "base/machine.hpp"
#include "base/tuning_file.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chorus {

/// How the ranks of a node share memory.
enum class SharedMemory : std::uint8_t { automatic, memfd, named, off };

/// Of the environment, which names its algorithm: CHORUS_ALLREDUCE and its like.
[[nodiscard]] std::string variable_of(Collective collective);

/// What the environment asks for. Rank 0 reads it where a communicator is made of one of MPI, so that all ranks have
/// the same; one that is made of another has that one's.
struct Settings {
  std::array<std::string, collective_count> algorithm;  ///< CHORUS_ALLREDUCE=ring; empty: the chooser decides
  std::chrono::nanoseconds timeout{};                   ///< CHORUS_TIMEOUT, seconds; zero: none
  std::chrono::nanoseconds stall_warning = std::chrono::seconds(60);  ///< CHORUS_STALL_WARNING, seconds; zero: none
  SharedMemory shared_memory = SharedMemory::automatic;               ///< CHORUS_SHARED_MEMORY=memfd|named|off
  std::size_t slot_bytes = machine::slot_bytes;                       ///< CHORUS_SLOT_BYTES: length of a data slot
  bool single_copy = true;   ///< CHORUS_SINGLE_COPY=0: ranks do not reach into each other's processes
  int node_ranks = 0;        ///< CHORUS_NODE_RANKS: pretend that a node has this many ranks of the job; zero: as it is
  std::vector<int> domains;  ///< CHORUS_DOMAINS=8x4x2: pretend that nodes are divided so, from the inside out
  std::vector<int> gpus;     ///< CHORUS_GPUS=0,0,1,1: the GPU of each rank of a node; empty: the nearest
  TuningFile tuning;         ///< CHORUS_TUNING_FILE, or that of the installation
  bool disabled = false;     ///< CHORUS_DISABLE=1: algorithms that are not named are "native"
  bool compare = false;      ///< CHORUS_CHECK=collective: compare the calls of all ranks, not of those of a node alone
  bool deterministic = false;  ///< CHORUS_DETERMINISTIC=1: the same bits on every run
  bool reproducible = false;   ///< CHORUS_REPRODUCIBLE=1: and for every order of the ranks, for sums of floats
  bool log = false;            ///< CHORUS_LOG=info: one line for each decision at set-up

  /// Reads the CHORUS_ variables of `environment` (as in `environ`: NAME=value strings, ended by null).
  /// Throws Error{invalid_environment} for an unknown name or a value that does not parse, naming the nearest known.
  [[nodiscard]] static Settings parse(const char* const* environment);

  /// Those of this process's environment, with what is written in the tuning file. Throws Error{invalid_environment}
  /// also where the one that it names cannot be read.
  [[nodiscard]] static Settings of_this_process();

  /// Those of this process's environment, which a rank goes by before all have those of rank 0; the default ones where
  /// something is wrong, which is said where they count: on rank 0, to all.
  [[nodiscard]] static Settings before_agreement();

  /// For the way to the other ranks.
  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] static Settings from_json(const std::string& text);
};

}  // namespace chorus
