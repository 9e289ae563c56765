// SPDX-License-Identifier: Apache-2.0
#include "transport/process.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace chorus::test {
namespace {

/// As long as it lives, this process opens no file.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// A process that has ended, and whose PID is free again.
ProcessId ended_process() {
  ProcessId process = this_process();
  process.pid = fork();
  if (process.pid == 0) _exit(0);
  waitpid(process.pid, nullptr, 0);
  return process;
}

TEST(Process, IsRunningWhileItLooks) { EXPECT_EQ(state_of(this_process()), 'R'); }

TEST(Process, HasEndedWhereThereIsNone) { EXPECT_EQ(state_of(ended_process()), 'X'); }

TEST(Process, HasEndedWhereALaterOneHasItsNumber) {
  ProcessId earlier = this_process();
  --earlier.start_ticks;
  EXPECT_EQ(state_of(earlier), 'X');
}

TEST(Process, IsNotTakenForDeadWhereItIsOnAnotherMachine) {
  ProcessId elsewhere = ended_process();
  const auto first_space = std::uint64_t{0xEFFFFFFC};  // of every machine
  elsewhere.pid_space = pid_space_of("another", first_space);
  EXPECT_EQ(state_of(elsewhere), '?');
  EXPECT_NE(pid_space_of("another", first_space), pid_space_of("one", first_space));
  EXPECT_NE(pid_space_of("one", first_space), pid_space_of("one", first_space + 1));
  EXPECT_EQ(pid_space_of("", first_space), 0U);
  struct stat status {};
  ASSERT_EQ(stat("/proc/self/ns/pid", &status), 0);
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot_id;
  std::getline(file, boot_id);
  EXPECT_EQ(this_process().pid_space, pid_space_of(boot_id, status.st_ino));
}

TEST(Process, IsNotTakenForDeadWhereItCannotBeSeen) {
  const ProcessId mine = this_process();
  const ProcessId ended = ended_process();
  ProcessId unknown = mine;
  unknown.start_ticks = 0;
  EXPECT_EQ(state_of(unknown), '?');
  const NoDescriptors none;
  EXPECT_EQ(state_of(mine), '?');
  EXPECT_EQ(state_of(ended), 'X');
}

}  // namespace
}  // namespace chorus::test
