// A file is replaced whole or not at all, and nothing else is left in its folder.
#include "files/atomic_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <thread>

#include "error_of.h"
#include "sanitizers.h"

namespace horngate::files {
namespace {

namespace fs = std::filesystem;
using horngate::testing::error_of;

class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/atomicXXXXXX";
    folder = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string at(const std::string& name) const { return folder / name; }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.insert(entry.path().filename());
    return found;
  }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void save(const std::string& path, const std::string& text) {
    AtomicFile file(path);
    file.write(as_bytes(text));
    file.finish();
  }
  fs::path folder;
};

TEST_F(AtomicFileTest, NewAndOldFiles) {
  save(at("net.h5"), "one");
  EXPECT_EQ(content(at("net.h5")), "one");
  const std::string large(300'000, 'x');
  AtomicFile file(at("net.h5"));
  file.write(as_bytes("ab"));
  file.fill_to(8);
  file.write(as_bytes(large));
  EXPECT_EQ(file.size(), 300'008u);
  EXPECT_EQ(content(at("net.h5")), "one");  // until it is finished
  file.finish();
  EXPECT_EQ(content(at("net.h5")), std::string("ab\0\0\0\0\0\0", 8) + large);
  EXPECT_EQ(names(), std::set<std::string>{"net.h5"});
}

TEST_F(AtomicFileTest, WhatIsNotFinishedLeavesNothing) {
  save(at("net.h5"), "one");
  {
    AtomicFile file(at("net.h5")), other(at("new.h5"));
    file.write(as_bytes("two"));
    EXPECT_THROW(file.fill_to(1), RuntimeError);
  }
  EXPECT_EQ(content(at("net.h5")), "one");
  EXPECT_EQ(names(), std::set<std::string>{"net.h5"});
}

TEST_F(AtomicFileTest, ModesAndLinksStay) {
  const mode_t mask = ::umask(027);
  save(at("net.h5"), "one");
  ::umask(mask);
  const auto mode = [&](const char* name) {
    return static_cast<unsigned>(fs::status(at(name)).permissions());
  };
  EXPECT_EQ(mode("net.h5"), 0640u);
  ::chmod(at("net.h5").c_str(), 0604);
  fs::create_symlink("net.h5", at("link.h5"));
  fs::create_symlink(at("link.h5"), at("far.h5"));
  save(at("far.h5"), "two");
  EXPECT_EQ(mode("net.h5"), 0604u);
  EXPECT_TRUE(fs::is_symlink(at("link.h5")) && fs::is_symlink(at("far.h5")));
  EXPECT_EQ(content(at("net.h5")), "two");
  fs::create_symlink("made.h5", at("dangling.h5"));
  save(at("dangling.h5"), "three");
  EXPECT_TRUE(fs::is_symlink(at("dangling.h5")));
  EXPECT_EQ(content(at("made.h5")), "three");
  fs::create_symlink("loop.h5", at("loop.h5"));
  EXPECT_NE(error_of<RuntimeError>([&] { save(at("loop.h5"), ""); }).find("symbolic links"),
            std::string::npos);
}

TEST_F(AtomicFileTest, WhatCannotBeWrittenIsNamed) {
  EXPECT_EQ(error_of<RuntimeError>([&] { save(at("no/net.h5"), ""); }),
            at("no/net.h5") + ": no file can be made in its folder: No such file or directory.");
  EXPECT_EQ(error_of<RuntimeError>([&] { save(folder, ""); }),
            folder.string() + ": cannot be written: Is a directory.");
  EXPECT_EQ(error_of<RuntimeError>([&] { save(at("new/"), ""); }),
            at("new/") + ": cannot be written: Is a directory.");
  EXPECT_EQ(error_of<RuntimeError>([&] { save("/dev/null", ""); }),
            "/dev/null: cannot be written: it is not a regular file.");
  EXPECT_EQ(error_of<RuntimeError>([&] { save("", ""); }),
            ": cannot be written: Invalid argument.");
  EXPECT_TRUE(names().empty());
}

TEST_F(AtomicFileTest, RelativeAndLongNames) {
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  const std::string name = std::string(240, 'x') + ".h5";
  save("net.h5", "one");
  save(name, "two");
  save(name, "three");
  fs::current_path(before);
  EXPECT_EQ(content(at(name)), "three");
  EXPECT_EQ(names(), (std::set<std::string>{"net.h5", name}));
}

TEST_F(AtomicFileTest, DraftsOfTheDeadGo) {
  const std::string dead = at(".net.h5.0a1b2c3d.horngate-save"),
                    other = at(".other.h5.0a1b2c3d.horngate-save");
  save(dead, "half");
  save(other, "half");
  save(at("net.h5"), "one");
  EXPECT_EQ(names(), (std::set<std::string>{"net.h5", fs::path(other).filename()}));
}

TEST_F(AtomicFileTest, AFullDiskKeepsTheOldFile) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << testing::kNoForks;
  save(at("net.h5"), "one");
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {70'000, 70'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string text =
        error_of<RuntimeError>([&] { save(at("net.h5"), std::string(100'000, 'x')); });
    ::_exit(text == at("net.h5") + ": cannot be written: File too large." ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content(at("net.h5")), "one");
  EXPECT_EQ(names(), std::set<std::string>{"net.h5"});
}

TEST_F(AtomicFileTest, KillsAtRandomMoments) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << testing::kNoForks;
  const std::string one(200'000, '1'), two(200'000, '2');
  save(at("net.h5"), one);
  std::mt19937 random(std::random_device{}());
  for (int i = 0; i < 30; ++i) {
    const pid_t child = ::fork();
    if (child == 0)
      for (int k = 0;; ++k) save(at("net.h5"), k % 2 ? one : two);
    ::usleep(random() % 8000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const std::string found = content(at("net.h5"));
    ASSERT_TRUE(found == one || found == two);
  }
  save(at("net.h5"), one);
  EXPECT_EQ(names(), std::set<std::string>{"net.h5"});
}

TEST_F(AtomicFileTest, ManyThreadsAndOneFile) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i)
        save(at("net.h5"), std::string(5000, static_cast<char>('a' + t)));
    });
  for (std::thread& thread : threads) thread.join();
  const std::string found = content(at("net.h5"));
  EXPECT_EQ(found, std::string(5000, found.at(0)));
  EXPECT_EQ(names(), std::set<std::string>{"net.h5"});
}

}  // namespace
}  // namespace horngate::files
