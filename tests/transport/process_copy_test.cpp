// SPDX-License-Identifier: Apache-2.0
#include "transport/process_copy.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <vector>

namespace chorus::test {
namespace {

/// A process that waits until this one has ended.
class Child {
 public:
  explicit Child(MemoryProbe& probe) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      const MemoryProbe own = memory_probe();
      static_cast<void>(!write(ends[1], &own, sizeof own));
      pause();
      _exit(0);
    }
    if (read(ends[0], &probe, sizeof probe) != sizeof probe) throw std::runtime_error("no child");
    close(ends[0]);
    close(ends[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }

  void end() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] int pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

TEST(ProcessCopy, IsTriedOnAWord) {
  EXPECT_TRUE(can_reach(getpid(), memory_probe()));
  EXPECT_FALSE(can_reach(getpid(), {.address = memory_probe().address, .word = memory_probe().word + 1}))
      << "another process may be meant";
  EXPECT_FALSE(can_reach(getpid(), {.address = 8, .word = 0})) << "nothing lies there";
}

TEST(ProcessCopy, ReachesAChildUntilItEnds) {
  MemoryProbe probe;
  Child child(probe);
  ASSERT_TRUE(can_reach(child.pid(), probe));
  std::uint64_t word = 0;
  const auto* const there = reinterpret_cast<const std::byte*>(probe.address);
  EXPECT_TRUE(read_process(child.pid(), reinterpret_cast<std::byte*>(&word), there, sizeof word));
  EXPECT_EQ(word, probe.word);
  const std::uint64_t other = probe.word + 1;
  EXPECT_TRUE(write_process(child.pid(), reinterpret_cast<std::byte*>(probe.address), bytes_of(other)));
  EXPECT_FALSE(can_reach(child.pid(), probe)) << "there is another word";
  EXPECT_TRUE(can_reach(child.pid(), {.address = probe.address, .word = other}));

  const int pid = child.pid();
  child.end();
  EXPECT_FALSE(can_reach(pid, probe));
  EXPECT_FALSE(read_process(pid, reinterpret_cast<std::byte*>(&word), there, sizeof word));
  EXPECT_FALSE(write_process(pid, reinterpret_cast<std::byte*>(probe.address), bytes_of(other)));
}

TEST(ProcessCopy, IsNotTriedWhereAWordCanBeReadAlone) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const zeros = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  EXPECT_FALSE(can_reach(getpid(), {.address = reinterpret_cast<std::uint64_t>(zeros), .word = 0}));
  munmap(zeros, page);
}

/// The system copies up to the hole.
TEST(ProcessCopy, FindsWhatIsNoMemory) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const pages = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<std::byte*>(pages) + page, page), 0);
  std::vector<std::byte> out(2 * page);
  EXPECT_FALSE(read_process(getpid(), out.data(), static_cast<const std::byte*>(pages), 2 * page));
  EXPECT_FALSE(write_process(getpid(), static_cast<std::byte*>(pages), out));
  munmap(pages, page);
}

}  // namespace
}  // namespace chorus::test
