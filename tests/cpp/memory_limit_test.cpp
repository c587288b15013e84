// Memory that control groups grant, from file systems that are made up.
#include "cli/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace horngate::cli {
namespace {

namespace fs = std::filesystem;

class MemoryLimit : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("horngate_memory_" + std::to_string(getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root_ / path.substr(1);
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  uint64_t limit() const { return memory_limit(root_.string()); }

  fs::path root_;
};

constexpr const char* kV2 =
    "22 1 0:21 / / rw - ext4 /dev/root rw\n"
    "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";

TEST_F(MemoryLimit, WithoutFilesThereIsNone) {
  EXPECT_EQ(limit(), 0u);
  write("/proc/self/mountinfo", "not a line of mounts\n1 2 - cgroup2");
  write("/proc/self/cgroup", "nonsense\n:\n0::");
  EXPECT_EQ(limit(), 0u);
}

TEST_F(MemoryLimit, TheSmallestOnTheWayUpCounts) {
  write("/proc/self/mountinfo", kV2);
  write("/proc/self/cgroup", "0::/user.slice/job");
  EXPECT_EQ(limit(), 0u);
  write("/sys/fs/cgroup/user.slice/job/memory.max", "max");
  EXPECT_EQ(limit(), 0u);
  write("/sys/fs/cgroup/user.slice/job/memory.max", "4000000000");
  EXPECT_EQ(limit(), 4000000000u);
  write("/sys/fs/cgroup/user.slice/memory.max", "1000000000");
  EXPECT_EQ(limit(), 1000000000u);
  write("/sys/fs/cgroup/memory.max", "500000000");  // a container sees its own group here
  EXPECT_EQ(limit(), 500000000u);
}

TEST_F(MemoryLimit, OfVersion1) {
  write("/proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset");
  write("/proc/self/cgroup", "5:cpuset:/x\n4:memory:/docker/1f\n0::/");
  write("/sys/fs/cgroup/cpuset/x/memory.limit_in_bytes", "1");  // of another hierarchy
  EXPECT_EQ(limit(), 0u);
  write("/sys/fs/cgroup/memory/docker/1f/memory.limit_in_bytes", "300000000");
  EXPECT_EQ(limit(), 300000000u);
}

TEST_F(MemoryLimit, OfAContainerWhoseMountShowsItsGroupAlone) {
  write("/proc/self/mountinfo",
        "30 22 0:26 /docker/1f /sys/fs/my\\040groups rw - cgroup2 cgroup2 rw");
  write("/proc/self/cgroup", "0::/docker/1f/inner");
  write("/sys/fs/my groups/inner/memory.max", "200000000");
  EXPECT_EQ(limit(), 200000000u);
}

}  // namespace
}  // namespace horngate::cli
