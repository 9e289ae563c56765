// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace chorus {

/// What carries a reduction between the replicas.
enum class CommunicationImplementation : std::uint8_t {
  automatic,  ///< the algorithm that is predicted to be the fastest
  ring,       ///< the ring algorithm
  nccl,       ///< NCCL, of memory of GPUs alone: an error where it cannot. Tensors of the host go as by `automatic`
  /// The MPI library's own collective, between the workers. As `automatic`: what MPI does not have or not right, which
  /// are numbers of 8 and 16 bits that are added, floats of which the least or largest is taken, sums that are
  /// reproducible or compressed, and tensors of 2 GiB or more.
  mpi
};

/// What numbers are sent as between the workers.
enum class Compression : std::uint8_t {
  none,     ///< what they are
  float16,  ///< float and double as float16_t: 11 significant bits, at most 65504
  bfloat16  ///< float and double as bfloat16_t: 8 significant bits, the range of float
};

/// The implementation called `name`: automatic (also auto), ring, nccl or mpi, in small or capital letters.
/// Throws   Error{invalid_argument} for any other.
[[nodiscard]] CHORUS_API CommunicationImplementation communication_implementation(std::string_view name);

/// How the replicas communicate in one call, or always. The same on every replica.
struct CommunicationOptions {
  /// Tensors of one type are sent together in packs of at most this many bytes (a tensor that is larger alone); 0: the
  /// library decides.
  std::size_t bytes_per_pack = 0;
  /// After this long a replica, or a worker, that waits for others throws Error{timeout}, also in a merge_call, at the
  /// end of a run and, where a strategy is given it, in its constructor; zero: CHORUS_TIMEOUT decides.
  std::chrono::nanoseconds timeout = {};
  CommunicationImplementation implementation = CommunicationImplementation::automatic;
  /// Sums and averages of float, double and complex numbers of these are rounded once, so that they have the same bits
  /// whatever the number of workers and of replicas on each; so have integers, the least and the largest always. Those
  /// of 16-bit numbers and long double have the same bits on every run with the same workers and replicas.
  bool reproducible = false;
  /// A reduction's numbers are rounded when they leave a worker, and the result once more; between, and among the
  /// replicas of a worker, they are what they are. Every replica gets the same bits. Not with `reproducible`, and not
  /// what variables are made of: those are written and read as they are.
  Compression compression = Compression::none;

  bool operator==(const CommunicationOptions&) const = default;
  /// These options with those of `other` that are not the default ones.
  [[nodiscard]] CHORUS_API CommunicationOptions merge(const CommunicationOptions& other) const noexcept;
};

}  // namespace chorus
