// CPU quotas of control groups, from file systems that are made up.
#include "ir/cpus.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "horngate/cpus.h"

namespace horngate {
namespace {

namespace fs = std::filesystem;

class CpuQuota : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("horngate_cpus_" + std::to_string(getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root_ / path.substr(1);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  double quota() const { return cpu_quota(root_.string()); }

  fs::path root_;
};

constexpr const char* kV2 =
    "22 1 0:21 / / rw - ext4 /dev/root rw\n"
    "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
constexpr const char* kV1 =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset";

TEST_F(CpuQuota, WithoutFilesThereIsNone) {
  EXPECT_EQ(quota(), 0);
  write("/proc/self/mountinfo", "not a line of mounts\n1 2 - cgroup2");
  write("/proc/self/cgroup", "nonsense\n:\n0::");
  EXPECT_EQ(quota(), 0);
}

TEST_F(CpuQuota, OfVersion2) {
  write("/proc/self/mountinfo", kV2);
  write("/proc/self/cgroup", "0::/user.slice/job");
  EXPECT_EQ(quota(), 0);
  write("/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000");
  EXPECT_EQ(quota(), 0);
  write("/sys/fs/cgroup/user.slice/job/cpu.max", "250000 100000");
  EXPECT_EQ(quota(), 2.5);
}

TEST_F(CpuQuota, TheSmallestOnTheWayUpCounts) {
  write("/proc/self/mountinfo", kV2);
  write("/proc/self/cgroup", "0::/a/b/c");
  write("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000");
  write("/sys/fs/cgroup/a/b/cpu.max", "max 100000");
  write("/sys/fs/cgroup/a/cpu.max", "150000 100000");
  EXPECT_EQ(quota(), 1.5);
  write("/sys/fs/cgroup/cpu.max", "50000 100000");  // a container sees its own group here
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(CpuQuota, OfVersion1) {
  write("/proc/self/mountinfo", kV1);
  write("/proc/self/cgroup", "5:cpuset:/x\n4:cpu,cpuacct:/docker/1f\n0::/");
  write("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us", "-1");
  write("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_period_us", "100000");
  write("/sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us", "1");  // of another hierarchy
  EXPECT_EQ(quota(), 0);
  write("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_quota_us", "300000");
  EXPECT_EQ(quota(), 3);
  write("/sys/fs/cgroup/cpu,cpuacct/docker/1f/cpu.cfs_period_us", "50000");
  EXPECT_EQ(quota(), 6);
}

TEST_F(CpuQuota, OfAContainerWhosePathIsSeenFromOutside) {
  write("/proc/self/mountinfo",
        "32 31 0:29 /docker/1f /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu");
  write("/proc/self/cgroup", "4:cpu:/docker/1f/inner");
  write("/sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "200000");
  write("/sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 2);
  write("/proc/self/cgroup", "4:cpu:/docker/1fx");  // another group, which is not seen
  EXPECT_EQ(quota(), 0);
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 1);
}

TEST_F(CpuQuota, BothVersionsAtOnceAndOddPaths) {
  write("/proc/self/mountinfo",
        std::string(kV1) + "\n41 31 0:38 / /sys/fs/my\\040group rw - cgroup2 c rw");
  write("/proc/self/cgroup", "4:cpu,cpuacct:/\n0::/");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "800000");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 8);
  write("/sys/fs/my group/cpu.max", "700000 100000");
  EXPECT_EQ(quota(), 7);
}

TEST(Cpus, QuotasCountWhereTheyAreLess) {
  EXPECT_EQ(usable_cpus(8, 0), 8);
  EXPECT_EQ(usable_cpus(8, 2), 2);
  EXPECT_EQ(usable_cpus(8, 2.5), 3);
  EXPECT_EQ(usable_cpus(8, 0.2), 1);
  EXPECT_EQ(usable_cpus(2, 64), 2);
}

TEST(Cpus, LimitsOfThisProcess) {
  setenv("HORNGATE_NUM_THREADS", "7", 1);
  EXPECT_EQ(cpu_limits().threads, 7);
  unsetenv("HORNGATE_NUM_THREADS");
  const CpuLimits limits = cpu_limits();
  EXPECT_EQ(limits.allowed, allowed_cpus());
  EXPECT_EQ(limits.threads, usable_cpus(limits.allowed, limits.quota));
}

}  // namespace
}  // namespace horngate
