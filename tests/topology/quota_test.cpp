// SPDX-License-Identifier: Apache-2.0
#include "topology/quota.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace chorus {
namespace {

namespace fs = std::filesystem;

/// A made-up file system.
class Quota : public testing::Test {
 protected:
  Quota() : root_(fs::path(testing::TempDir()) / ("chorus_quota_" + std::to_string(getpid()))) {}
  ~Quota() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] CpuQuota read() const { return cpu_quota(root_); }

 private:
  fs::path root_;
};

TEST_F(Quota, IsUnlimitedWhereNothingCanBeRead) {
  EXPECT_TRUE(std::isinf(read().cores));
  EXPECT_EQ(read().group, 0U);
  write("proc/self/cgroup", "nonsense\n::\n");
  write("proc/self/mountinfo", "nonsense - \n - cgroup2");
  EXPECT_TRUE(std::isinf(read().cores));
}

TEST_F(Quota, OfVersion2IsTheSmallestOnTheWayUp) {
  write("proc/self/cgroup", "0::/job/step\n");
  write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(read().cores));
  write("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  EXPECT_DOUBLE_EQ(read().cores, 2.5);
  const auto group = read().group;
  EXPECT_NE(group, 0U);
  write("sys/fs/cgroup/job/step/cpu.max", "400000 100000\n");
  EXPECT_EQ(read().group, group);
  write("sys/fs/cgroup/job/step/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(read().cores, 0.5);
  EXPECT_NE(read().group, group);
}

TEST_F(Quota, OfVersion1ComesFromTheCpuController) {
  write("proc/self/cgroup", "9:cpuset:/a\n4:cpu,cpuacct:/a/b\n0::/\n");
  write("proc/self/mountinfo",
        "31 30 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpuset/a/cpu.cfs_quota_us", "100000\n");
  write("sys/fs/cgroup/cpuset/a/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(read().cores));
  write("sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "150000\n");
  EXPECT_DOUBLE_EQ(read().cores, 1.5);
}

TEST_F(Quota, IsFoundInsideAContainer) {
  // The container's group is mounted as if it were the root, and named as the host names it.
  write("proc/self/cgroup", "4:cpu:/docker/0123\n");
  write("proc/self/mountinfo", "32 30 0:28 /docker/0123 /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(read().cores, 3);
  // A group that is not below what is mounted: what is mounted counts.
  write("proc/self/cgroup", "4:cpu:/../other\n");
  EXPECT_DOUBLE_EQ(read().cores, 3);
}

}  // namespace
}  // namespace chorus
