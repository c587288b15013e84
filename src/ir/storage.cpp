// Storage: counted memory. Large blocks are kept for the next taker of that size, because on most
// machines giving pages back and faulting them in again costs more than the work done on them.
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "horngate/array.h"
#include "ir/check.h"

namespace horngate {

struct alignas(64) Storage::Block {
  std::atomic<uint32_t> refs{1};
  void* data = nullptr;
  size_t bytes = 0;
  size_t capacity = 0;  // 0: adopted
  std::function<void()> release;
};
static_assert(sizeof(Storage::Block) % 64 == 0, "data follows the block and must stay aligned");

namespace {

constexpr size_t kCachedFrom = size_t{1} << 16;
constexpr size_t kCacheLimit = size_t{1} << 30;
constexpr size_t kUnit = 64;

/// Small blocks that this thread gave back, by size: a call of a tiny function makes and drops a few
/// of them, and aligned memory is slow to come by.
struct SmallBlocks {
  static constexpr size_t kSizes = 16, kPerSize = 16;
  uint32_t count[kSizes];
  void* block[kSizes][kPerSize];
};
thread_local SmallBlocks* small_blocks = nullptr;
thread_local bool small_blocks_closed = false;

// At the end of a thread; what comes back after that is freed.
struct CloseSmallBlocks {
  ~CloseSmallBlocks() {
    small_blocks_closed = true;
    if (!small_blocks) return;
    for (size_t size = 0; size < SmallBlocks::kSizes; ++size)
      for (size_t i = 0; i < small_blocks->count[size]; ++i)
        std::free(small_blocks->block[size][i]);
    std::free(std::exchange(small_blocks, nullptr));
  }
};

// Sanitizers shall see each use of freed memory.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kKeepSmall = false;
#else
constexpr bool kKeepSmall = true;
#endif

void* take_small(size_t capacity) {
  const size_t size = capacity / kUnit;
  SmallBlocks* s = small_blocks;
  if (size >= SmallBlocks::kSizes || !s || s->count[size] == 0) return nullptr;
  return s->block[size][--s->count[size]];
}

bool give_small(void* p, size_t capacity) {
  const size_t size = capacity / kUnit;
  if (!kKeepSmall || size >= SmallBlocks::kSizes) return false;
  SmallBlocks* s = small_blocks;
  if (!s) [[unlikely]] {
    if (small_blocks_closed) return false;
    s = small_blocks = static_cast<SmallBlocks*>(std::calloc(1, sizeof(SmallBlocks)));
    if (!s) return false;
    thread_local CloseSmallBlocks close;
    (void)close;
  }
  if (s->count[size] == SmallBlocks::kPerSize) return false;
  s->block[size][s->count[size]++] = p;
  return true;
}

struct Cache {
  std::mutex mutex;
  std::unordered_map<size_t, std::vector<void*>> free;
  size_t bytes = 0;
};
// Never destroyed: arrays of static storage duration may outlive any destructor order.
Cache& cache() {
  static Cache* c = new Cache;
  return *c;
}

size_t rounded(size_t bytes) {
  const size_t unit = bytes >= kCachedFrom ? 4096 : kUnit;
  check(bytes <= SIZE_MAX - 2 * unit, "array", bytes, " bytes cannot be allocated.");
  return (bytes + unit - 1) / unit * unit;
}

void* take(size_t capacity) {
  if (void* p = take_small(capacity)) return p;
  if (capacity >= kCachedFrom) {
    Cache& c = cache();
    std::lock_guard lock(c.mutex);
    if (auto it = c.free.find(capacity); it != c.free.end() && !it->second.empty()) {
      void* p = it->second.back();
      it->second.pop_back();
      c.bytes -= capacity;
      return p;
    }
  }
  void* p = std::aligned_alloc(64, sizeof(Storage::Block) + capacity);
  if (!p)
    fail<RuntimeError>("array", "out of memory: ", capacity, " bytes could not be allocated.");
  return p;
}

void give(void* p, size_t capacity) {
  if (capacity >= kCachedFrom) {
    Cache& c = cache();
    std::lock_guard lock(c.mutex);
    if (c.bytes + capacity <= kCacheLimit) {
      c.free[capacity].push_back(p);
      c.bytes += capacity;
      return;
    }
  }
  if (!give_small(p, capacity)) std::free(p);
}

}  // namespace

Storage Storage::allocate(size_t bytes) {
  const size_t capacity = rounded(bytes);
  void* memory = take(capacity);
  auto* block = new (memory) Block;
  block->data = block + 1;
  block->bytes = bytes;
  block->capacity = capacity ? capacity : 64;
  Storage s;
  s.block_ = block;
  return s;
}

Storage Storage::adopt(void* data, size_t bytes, std::function<void()> release) {
  auto* block = new Block;
  block->data = data;
  block->bytes = bytes;
  block->release = std::move(release);
  Storage s;
  s.block_ = block;
  return s;
}

Storage::Storage(const Storage& other) noexcept : block_(other.block_) {
  if (block_) block_->refs.fetch_add(1, std::memory_order_relaxed);
}

Storage::~Storage() {
  if (!block_ || block_->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (block_->release) block_->release();
  if (block_->capacity) {
    const size_t capacity = rounded(block_->bytes);
    block_->~Block();
    give(block_, capacity);
  } else {
    delete block_;
  }
}

void* Storage::data() const { return block_->data; }
size_t Storage::bytes() const { return block_->bytes; }
bool Storage::unique() const { return block_ && block_->refs.load(std::memory_order_acquire) == 1; }

void release_cached_memory() {
  Cache& c = cache();
  std::lock_guard lock(c.mutex);
  for (auto& [size, blocks] : c.free)
    for (void* p : blocks) std::free(p);
  c.free.clear();
  c.bytes = 0;
}

}  // namespace horngate
