// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace chorus {

/// What numbers that were measured hold for: a kind of machine, and the MPI library that its ranks use.
struct Site {
  std::string mpi;        ///< its name and version; empty: there is none, or it is not known
  std::string processor;  ///< its model; empty where that is not known
  int cores = 0;          ///< of the machine; 0 where that is not known

  friend bool operator==(const Site&, const Site&) = default;
};

/// What keeps numbers that were measured at `measured` from being used at `here`, as a sentence goes on; empty where
/// nothing does.
[[nodiscard]] std::string difference(const Site& measured, const Site& here);

/// A tuning file as it stands, and who reads it.
struct TuningFile {
  std::string path;        ///< empty: there is none
  std::string text;        ///< read where the settings are first used
  bool installed = false;  ///< nobody asked for it: it lies where an installation has its own
  Site here;               ///< where it is read

  /// Ranks that send each other messages.
  struct Job {
    bool crowded = false;  ///< more ranks than cores
    int nodes = 0;
    int senders = 0;  ///< of a node, all of which send at a time
  };
  /// Whether it says how long messages between nodes take, and holds for where it is read by such a job: of at most
  /// twice as many nodes, and ranks on each, as it was measured by. What else may be wrong with it is not asked.
  [[nodiscard]] bool gives_network(const Job& job) const;

  friend bool operator==(const TuningFile&, const TuningFile&) = default;
};

/// Where an installation has its tuning file, whether there is one or not: etc/chorus/tuning.json below the prefix, or
/// what meson's sysconfdir is. The prefix is where this code lies, if that is a folder of an installation, so that it
/// may be moved; else the one it was built for.
[[nodiscard]] std::string installed_tuning_file();

/// What is written in the file called `path`; empty where it cannot be read.
[[nodiscard]] std::string contents_of(const std::string& path);
/// Why that is empty.
[[nodiscard]] std::string why_empty(const std::string& path);

}  // namespace chorus
