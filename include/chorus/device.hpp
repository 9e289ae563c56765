// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chorus/export.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// A place where a replica of a computation runs: a part of this machine. A plain value.
class CHORUS_API Device {
 public:
  enum class Kind : std::uint8_t {
    cpu,   ///< a core
    numa,  ///< a NUMA domain: the cores next to one memory
    gpu    ///< a GPU, by CUDA's number for it in this process, and the cores next to it (gpu_devices)
  };

  /// The `index`-th of its kind on the machine, from 0. `pus` are its processing units (what the system calls a CPU),
  /// as the system numbers them, each once and in any order.
  ///
  /// Throws   Error{invalid_argument} where the index or a PU is negative, or there is no PU.
  Device(Kind kind, int index, std::vector<int> pus);

  /// The device of that name: one that this process may use.
  /// Throws   Error{invalid_argument}, which says what names are possible. That of a GPU loads CUDA's driver; where
  ///          there is none, what gpu_devices throws.
  [[nodiscard]] static Device parse(std::string_view name);

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// Its place among those of its kind in the order of the machine, those among them that this process may not use; of
  /// a GPU CUDA's number.
  [[nodiscard]] int index() const noexcept { return index_; }
  /// Those that a replica may run on, in ascending order.
  [[nodiscard]] const std::vector<int>& pus() const noexcept { return pus_; }
  /// "/cpu:0", "/numa:1", "/gpu:0".
  [[nodiscard]] std::string name() const;

  friend bool operator==(const Device&, const Device&) = default;

 private:
  Kind kind_;
  int index_;
  std::vector<int> pus_;
};

/// The devices of this machine, one for each replica: the NUMA domains that this process may use; where these are fewer
/// than two, the cores. At least one, in the order of the machine, so that neighbours share what is shared.
///
/// Order    any thread. What the process may use is what its main thread may run on when the first device is asked for:
///          its launcher or a control group may have bound it. Threads that are bound later change nothing.
/// Throws   Error{transport} where the system does not tell about the machine.
[[nodiscard]] CHORUS_API std::vector<Device> local_devices();

/// `number` devices, /cpu:0 and so on, each of which has every PU that this process may use: for more replicas than
/// there are local_devices, and for ranks that the launcher has not bound, each of which would take the same first one.
///
/// Throws   Error{invalid_argument} where `number` is less than 1; what local_devices throws.
[[nodiscard]] CHORUS_API std::vector<Device> shared_devices(int number);

/// Keeps the calling thread on a device, and the threads that it starts meanwhile: it runs on the PUs of that device
/// alone, until this is destroyed by the same thread. It may then run where it could before.
///
/// Order    bindings of one thread end in the reverse order of their beginnings. Memory lies near the device if it is
///          touched first meanwhile. MPI and the threads of others are left alone, and so is the current GPU
///          (CurrentGpu).
/// Throws   Error{invalid_argument} where the thread may not run on all PUs of the device; it is then bound as before.
class CHORUS_API ThreadBinding {
 public:
  [[nodiscard]] explicit ThreadBinding(const Device& device);
  ThreadBinding(const ThreadBinding&) = delete;
  ThreadBinding& operator=(const ThreadBinding&) = delete;
  ~ThreadBinding();

 private:
  std::vector<unsigned long> before_;  // the system's mask
};

}  // namespace chorus
