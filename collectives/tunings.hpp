// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuning.hpp"

#include <memory>
#include <string>

namespace chorus {

/// A tuning file beside the machine as it was measured in this run, and beside the built-in model.
class Tunings {
 public:
  /// Reads `file`. What is wrong with it, or with its use here, is thrown as Tuning::parse does where the user has
  /// named it; one of the installation is then not used, and `warning` says why. Where the network was measured the
  /// file does not speak of it: a communicator that the file's network holds for measures none.
  Tunings(const TuningFile& file, const Pace& pace, const NetworkPace& network, bool crowded,
          const DevicePace& devices = {});

  /// The same, made once for communicators that give the same.
  [[nodiscard]] static std::shared_ptr<const Tunings> shared(const TuningFile& file, const Pace& pace,
                                                             const NetworkPace& network, bool crowded,
                                                             const DevicePace& devices = {});

  /// What the algorithm of `call` is chosen by: for a deterministic one nothing that another run would measure anew.
  [[nodiscard]] const Tuning& of(const Call& call) const noexcept {
    return call.repeatability == Repeatability::deterministic ? built_in_ : measured_;
  }
  /// For the user, on one line; empty where there is nothing to say.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

 private:
  Tuning measured_;
  Tuning built_in_;
  std::string warning_;
};

}  // namespace chorus
