// SPDX-License-Identifier: Apache-2.0
#include "topology/quota.hpp"

#include <sys/stat.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace chorus {
namespace {

namespace fs = std::filesystem;

/// A mounted tree of control groups, and where this process stands in it.
struct Controller {
  fs::path mount;       ///< where the tree is mounted
  fs::path mount_root;  ///< what part of the whole tree that is: a container sees only its own
  fs::path group;       ///< this process's group in the whole tree
  bool version_2 = false;
};

bool contains_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// This process's group in the tree of the `cpu` controller (version 1) or in the one tree (version 2): lines
/// "4:cpu,cpuacct:/job" and "0::/job".
std::optional<fs::path> own_group(const fs::path& root, bool version_2) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string number, controllers, path;
    std::getline(fields, number, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    if (version_2 ? controllers.empty() : contains_word(controllers, "cpu")) return path;
  }
  return std::nullopt;
}

/// The mounts of both versions: lines "32 31 0:29 ROOT MOUNT rw,relatime - cgroup cgroup rw,cpu", with any number of
/// optional fields before the "-".
std::vector<Controller> controllers(const fs::path& root) {
  std::vector<Controller> found;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t separator = line.find(" - ");
    if (separator == std::string::npos) continue;
    std::istringstream before(line), after(line.substr(separator + 3));
    std::string skipped, mount_root, mount, type, source, options;
    before >> skipped >> skipped >> skipped >> mount_root >> mount;
    after >> type >> source >> options;
    const bool version_2 = type == "cgroup2";
    if (!version_2 && !(type == "cgroup" && contains_word(options, "cpu"))) continue;
    if (auto group = own_group(root, version_2)) {
      found.push_back({root / fs::path(mount).relative_path(), mount_root, *group, version_2});
    }
  }
  return found;
}

/// The quota of one group, in cores: "QUOTA PERIOD" in µs, "max" or a negative number for none.
std::optional<double> quota_of(const fs::path& group, bool version_2) {
  double quota = 0, period = 0;
  if (version_2) {
    std::ifstream(group / "cpu.max") >> quota >> period;
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  if (quota > 0 && period > 0) return quota / period;
  return std::nullopt;
}

std::uint64_t identity(const fs::path& group) {
  struct stat status {};
  if (stat(group.c_str(), &status) != 0) return 1;
  return status.st_ino ^ static_cast<std::uint64_t>(status.st_dev) << 48U;
}

}  // namespace

CpuQuota cpu_quota(const fs::path& root) {
  CpuQuota smallest;
  for (const Controller& controller : controllers(root)) {
    fs::path below = controller.group.lexically_relative(controller.mount_root);
    if (below.empty() || *below.begin() == "..") below = ".";  // the group lies outside what is mounted here
    fs::path group = controller.mount;
    for (const fs::path& step : below) {
      if (step != ".") group /= step;
    }
    // A group may use no more than those above it.
    for (const fs::path top = controller.mount;; group = group.parent_path()) {
      const auto cores = quota_of(group, controller.version_2);
      if (cores && *cores < smallest.cores) smallest = {*cores, identity(group)};
      if (group == top || !group.has_relative_path()) break;
    }
  }
  return smallest;
}

}  // namespace chorus
