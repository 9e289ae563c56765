// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace chorus {

/// What numbers that were measured hold for: a kind of machine, and the MPI library that its ranks use.
struct Site {
  std::string mpi;        ///< its name and version; empty: there is none, or it is not known
  std::string processor;  ///< its model; empty where that is not known
  int cores = 0;          ///< of the machine; 0 where that is not known

  friend bool operator==(const Site&, const Site&) = default;
};

/// A tuning file as it stands, and who reads it.
struct TuningFile {
  std::string path;        ///< empty: there is none
  std::string text;        ///< read where the settings are first used
  bool installed = false;  ///< nobody asked for it: it lies where an installation has its own
  Site here;               ///< where it is read

  /// Whether it speaks of something by that name.
  [[nodiscard]] bool gives(std::string_view name) const;

  friend bool operator==(const TuningFile&, const TuningFile&) = default;
};

/// Where an installation has its tuning file, whether there is one or not: etc/chorus/tuning.json below the prefix, or
/// what meson's sysconfdir is. The prefix is where this code lies, if that is a folder of an installation, so that it
/// may be moved; else the one it was built for.
[[nodiscard]] std::string installed_tuning_file();

/// What is written in the file called `path`; empty where it cannot be read.
[[nodiscard]] std::string contents_of(const std::string& path);

}  // namespace chorus
