// Arenas.
#include "engines/native/arena.h"

#include <sys/mman.h>

#include <mutex>

#include "horngate/array.h"
#include "ir/check.h"
#include "ir/fork.h"

namespace horngate::native {
namespace {

constexpr size_t kHuge = size_t{2} << 20;

/// Lies at the start of an idle arena, so that giving one back needs no memory.
struct Idle {
  Idle* larger;
  size_t capacity;
};

constinit std::mutex mutex;
const AtFork at_fork{mutex, ForkOrder::last};
Idle* smallest = nullptr;  // idle ones by capacity; there are few
size_t held = 0;

void unmap(Idle* idle) {
  held -= idle->capacity;
  munmap(idle, idle->capacity);
}

/// The smallest idle arena with room for that many bytes. If all are too small, frees the largest, since the caller
/// will make a larger one.
Idle* take(size_t bytes) {
  Idle** at = &smallest;
  while (*at && (*at)->capacity < bytes && (*at)->larger) at = &(*at)->larger;
  Idle* const found = *at;
  if (!found) return nullptr;
  *at = found->larger;
  if (found->capacity >= bytes) return found;
  unmap(found);
  return nullptr;
}

/// Null if the system has no more.
std::byte* map_memory(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  if (bytes >= 2 * kHuge)
    madvise(p, bytes, MADV_HUGEPAGE);  // fewer faults and misses; a refusal does no harm
  return static_cast<std::byte*>(p);
}

size_t whole_pages(size_t bytes) {
  const size_t unit = bytes >= kHuge ? kHuge : 4096;
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

ArenaLease::ArenaLease(size_t bytes) {
  if (bytes == 0) return;
  {
    std::lock_guard lock(mutex);
    if (Idle* idle = take(bytes)) {
      capacity_ = idle->capacity;
      data_ = reinterpret_cast<std::byte*>(idle);
      return;
    }
  }
  check<RuntimeError>(bytes <= SIZE_MAX / 4, "function", "a plan needs ", bytes, " bytes.");
  capacity_ = whole_pages(bytes + bytes / 4);
  data_ = map_memory(capacity_);
  if (!data_) {  // the idle arenas may hold all the memory that is left
    release_arenas();
    release_cached_memory();
    capacity_ = whole_pages(bytes);
    data_ = map_memory(capacity_);
    check<RuntimeError>(data_ != nullptr, "function", "out of memory: a plan needs ", bytes,
                        " bytes.");
  }
  std::lock_guard lock(mutex);
  held += capacity_;
}

ArenaLease::~ArenaLease() {
  if (!data_) return;
  std::lock_guard lock(mutex);
  Idle** at = &smallest;
  while (*at && (*at)->capacity < capacity_) at = &(*at)->larger;
  *at = new (data_) Idle{*at, capacity_};
}

void release_arenas() {
  std::lock_guard lock(mutex);
  while (smallest) {
    Idle* const idle = smallest;
    smallest = idle->larger;
    unmap(idle);
  }
}

size_t arena_bytes_held() {
  std::lock_guard lock(mutex);
  return held;
}

}  // namespace horngate::native
