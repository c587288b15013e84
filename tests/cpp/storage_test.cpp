// Memory of arrays that is kept for the next taker.
#include <gtest/gtest.h>
#include <horngate/horngate.h>
#include <sys/resource.h>

#include <cstring>

#include "sanitizers.h"

namespace horngate {
namespace {

long page_faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

/// Page faults of taking, filling and giving back so many bytes, some times.
long faults_of(size_t bytes, int times) {
  const long before = page_faults();
  for (int i = 0; i < times; ++i) {
    const Storage s = Storage::allocate(bytes);
    std::memset(s.data(), i, bytes);
  }
  return page_faults() - before;
}

/// Blocks of ever other sizes, all held at once and then given back: more than the cache keeps.
void fill_cache_with_odd_sizes() {
  std::vector<Storage> held;
  for (size_t i = 0; i < 700; ++i) held.push_back(Storage::allocate((size_t{1} << 20) + i * 5000));
  for (size_t i = 0; i < 700; ++i) held.push_back(Storage::allocate((size_t{2} << 20) + i * 3001));
}

TEST(StorageCache, ForgetsSizesThatNobodyTakes) {
  release_cached_memory();
  fill_cache_with_odd_sizes();
  constexpr size_t kBytes = 40'000'001;  // malloc maps and unmaps such a block each time
  (void)faults_of(kBytes, 2);
  EXPECT_LT(faults_of(kBytes, 10), 1000) << "40 MB have 9,766 pages";
  release_cached_memory();
}

TEST(StorageCache, OddSizesFindWhatOthersLeft) {
  if (testing::kThreadSanitizer) GTEST_SKIP() << "the sanitizer's own memory faults";
  release_cached_memory();
  const size_t first = 40'000'000;
  (void)faults_of(first, 1);
  long faults = 0;
  for (size_t i = 0; i < 50; ++i) faults += faults_of(first + 9701 * i, 1);
  EXPECT_LT(faults, 1000);
  release_cached_memory();
}

TEST(StorageCache, BlocksAreLargeEnoughAndAligned) {
  for (size_t bytes = 1; bytes < (size_t{1} << 30); bytes = bytes * 3 / 2 + 1)
    for (const size_t n : {bytes - 1, bytes, bytes + 1}) {
      const Storage s = Storage::allocate(n);
      EXPECT_EQ(s.bytes(), n);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(s.data()) % 64, 0u);
      if (n) {
        static_cast<char*>(s.data())[0] = 1;
        static_cast<char*>(s.data())[n - 1] = 2;
      }
    }
  release_cached_memory();
}

}  // namespace
}  // namespace horngate
