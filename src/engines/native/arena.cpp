// Arenas.
#include "engines/native/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "ir/check.h"

namespace horngate::native {
namespace {

constexpr size_t kHuge = size_t{2} << 20;

struct ArenaPool {
  std::mutex mutex;
  std::multimap<size_t, std::byte*> idle;  // by capacity
  size_t held = 0;
};
ArenaPool& pool() {
  static auto* p = new ArenaPool;  // leaked: plans of static duration may outlive any order
  return *p;
}

std::byte* map_memory(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    fail<RuntimeError>("function", "out of memory: a plan needs ", bytes, " bytes.");
  if (bytes >= 2 * kHuge)
    madvise(p, bytes, MADV_HUGEPAGE);  // fewer faults and misses; harmless when refused
  return static_cast<std::byte*>(p);
}

}  // namespace

ArenaLease::ArenaLease(size_t bytes) {
  if (bytes == 0) return;
  ArenaPool& p = pool();
  {
    std::lock_guard lock(p.mutex);
    if (auto it = p.idle.lower_bound(bytes); it != p.idle.end()) {
      capacity_ = it->first;
      data_ = it->second;
      p.idle.erase(it);
      return;
    }
    // None is large enough: the largest idle one is replaced by one with room to grow.
    if (!p.idle.empty()) {
      auto last = std::prev(p.idle.end());
      munmap(last->second, last->first);
      p.held -= last->first;
      p.idle.erase(last);
    }
  }
  const size_t unit = bytes >= kHuge ? kHuge : 4096;
  capacity_ = (bytes + bytes / 4 + unit - 1) / unit * unit;
  data_ = map_memory(capacity_);
  std::lock_guard lock(p.mutex);
  p.held += capacity_;
}

ArenaLease::~ArenaLease() {
  if (!data_) return;
  ArenaPool& p = pool();
  std::lock_guard lock(p.mutex);
  p.idle.emplace(capacity_, data_);
}

void release_arenas() {
  ArenaPool& p = pool();
  std::lock_guard lock(p.mutex);
  for (auto& [capacity, data] : p.idle) {
    munmap(data, capacity);
    p.held -= capacity;
  }
  p.idle.clear();
}

size_t arena_bytes_held() {
  ArenaPool& p = pool();
  std::lock_guard lock(p.mutex);
  return p.held;
}

}  // namespace horngate::native
