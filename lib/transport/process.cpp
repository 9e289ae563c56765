// SPDX-License-Identifier: Apache-2.0
#include "transport/process.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

namespace chorus {
namespace {

struct Status {
  char state = '?';
  std::uint64_t start_ticks = 0;  // 0: it cannot be read
};

/// From /proc/PID/stat: "pid (name) state ...", the start being field 22; the name may hold spaces and brackets.
Status status_of(std::int32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return {};
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  Status status;
  fields >> status.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> status.start_ticks;
  return status;
}

std::string this_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  std::getline(file, boot_id);
  return boot_id;
}

std::uint64_t this_pid_space() {
  static const std::uint64_t here = [] {
    struct stat status {};
    return pid_space_of(this_boot_id(), stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0);
  }();
  return here;
}

}  // namespace

ProcessId this_process() { return {getpid(), status_of(getpid()).start_ticks, this_pid_space()}; }

char state_of(const ProcessId& process) {
  if (process.pid_space != this_pid_space() || process.pid_space == 0) return '?';
  const Status status = status_of(process.pid);
  // Also of a process that lives there may be no file to be read, or no descriptor left to read it by.
  if (status.start_ticks == 0) return kill(process.pid, 0) != 0 && errno == ESRCH ? 'X' : '?';
  if (process.start_ticks == 0) return '?';
  return status.start_ticks == process.start_ticks ? status.state : 'X';
}

std::uint64_t pid_space_of(const std::string& boot_id, std::uint64_t inode) {
  return boot_id.empty() || inode == 0 ? 0 : std::hash<std::string>()(fmt::format("{} {}", boot_id, inode));
}

std::uint64_t this_kernel() { return std::hash<std::string>()(this_boot_id()); }

}  // namespace chorus
