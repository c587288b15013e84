// Storage: counted memory. Large blocks are kept for the next request of about that size, because on most machines
// returning pages and faulting them in again costs more than the work done on them. Blocks that nobody asks for are
// freed.
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "horngate/array.h"
#include "ir/check.h"
#include "ir/engine_memory.h"
#include "ir/fork.h"
#include "ir/per_thread.h"

namespace horngate {

namespace {

/// A value that stays with an engine until somebody asks for it.
struct InEngine {
  ForkMutex mutex;  // held while the engine copies
  std::shared_ptr<EngineMemory> memory;
  Storage here;
};

}  // namespace

struct alignas(64) Storage::Block {
  std::atomic<uint32_t> refs{1};
  bool is_adopted = false;
  std::atomic<void*> data{nullptr};
  size_t bytes = 0;
  std::function<void()> release;
  std::unique_ptr<InEngine> in_engine;
};
static_assert(sizeof(Storage::Block) == 64, "arrays are made in every call");
static_assert(sizeof(Storage::Block) % 64 == 0, "data follows the block and must stay aligned");

namespace {

constexpr size_t kCachedFrom = size_t{1} << 16;
constexpr size_t kCacheLimit = size_t{1} << 30;
constexpr size_t kUnit = 64;

/// Small blocks that this thread gave back, by size: every call of a tiny function allocates and frees a few, and
/// aligned allocation is slow.
struct SmallBlocks {
  static constexpr size_t kSizes = 16, kPerSize = 16;
  uint32_t count[kSizes];
  void* block[kSizes][kPerSize];
};
thread_local SmallBlocks* small_blocks = nullptr;

void free_small_blocks(void*) {
  for (size_t size = 0; size < SmallBlocks::kSizes; ++size)
    for (size_t i = 0; i < small_blocks->count[size]; ++i) std::free(small_blocks->block[size][i]);
  std::free(std::exchange(small_blocks, nullptr));
}

// Sanitizers must see every use of freed memory.
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
    s = static_cast<SmallBlocks*>(std::calloc(1, sizeof(SmallBlocks)));
    if (!s || !at_thread_end(free_small_blocks, nullptr)) {
      std::free(s);
      return false;
    }
    small_blocks = s;
  }
  if (s->count[size] == SmallBlocks::kPerSize) return false;
  s->block[size][s->count[size]++] = p;
  return true;
}

/// A large block that waits to be reused. It lies in the block itself, so that giving back needs no memory.
struct Idle {
  Idle *newer, *older;  // in the list of all
  Idle *above, *below;  // in its size class, given back after and before it
  size_t capacity;
  uint64_t since;  // value of asked_ when it was given back
};
static_assert(sizeof(Idle) <= sizeof(Storage::Block));

/// Size classes, 16 per power of two, so that odd sizes can reuse each other's blocks.
constexpr size_t kPerOctave = 16;
constexpr size_t kClasses = (64 - 16) * kPerOctave;
/// A block that was not reused during this many requests is freed when a new one is needed.
constexpr uint64_t kOld = 1024;

class Cache {
 public:
  void* take(size_t capacity);
  /// Returns the blocks to free, linked by `older`.
  [[nodiscard]] Idle* make_room(size_t bytes);
  [[nodiscard]] Idle* give(void* p, size_t capacity);
  [[nodiscard]] Idle* release_all();

 private:
  static size_t class_of(size_t capacity) {
    const auto octave = static_cast<size_t>(std::bit_width(capacity) - 1);
    return (octave - 16) * kPerOctave + ((capacity >> (octave - 4)) & (kPerOctave - 1));
  }
  void unlink(Idle* idle);
  /// Takes out the oldest blocks for as long as `wanted` says so.
  template <class F>
  Idle* drop_while(F wanted);

  Idle* top_[kClasses] = {};
  Idle *newest_ = nullptr, *oldest_ = nullptr;
  size_t bytes_ = 0;
  uint64_t asked_ = 0;
};

constinit std::mutex cache_mutex;
const AtFork at_fork{cache_mutex, ForkOrder::last};
constinit Cache cache;  // under the mutex. Never destroyed: static arrays may outlive anything.

void Cache::unlink(Idle* idle) {
  (idle->newer ? idle->newer->older : newest_) = idle->older;
  (idle->older ? idle->older->newer : oldest_) = idle->newer;
  (idle->above ? idle->above->below : top_[class_of(idle->capacity)]) = idle->below;
  if (idle->below) idle->below->above = idle->above;
  bytes_ -= idle->capacity;
}

template <class F>
Idle* Cache::drop_while(F wanted) {
  Idle* dropped = nullptr;
  while (oldest_ && wanted(*oldest_)) {
    Idle* idle = oldest_;
    unlink(idle);
    idle->older = dropped;
    dropped = idle;
  }
  return dropped;
}

void* Cache::take(size_t capacity) {
  ++asked_;
  Idle* idle = top_[class_of(capacity)];
  if (idle) unlink(idle);
  return idle;
}

Idle* Cache::make_room(size_t bytes) {
  size_t freed = 0;
  return drop_while([&](const Idle& idle) {
    const bool drop = freed < bytes && asked_ - idle.since > kOld;
    if (drop) freed += idle.capacity;
    return drop;
  });
}

Idle* Cache::give(void* p, size_t capacity) {
  if (capacity > kCacheLimit) return new (p) Idle{nullptr, nullptr, nullptr, nullptr, capacity, 0};
  Idle*& top = top_[class_of(capacity)];
  auto* idle = new (p) Idle{nullptr, newest_, nullptr, top, capacity, asked_};
  if (top) top->above = idle;
  (newest_ ? newest_->newer : oldest_) = idle;
  newest_ = top = idle;
  bytes_ += capacity;
  return drop_while([&](const Idle&) { return bytes_ > kCacheLimit; });
}

Idle* Cache::release_all() {
  return drop_while([](const Idle&) { return true; });
}

void free_all(Idle* dropped) {
  while (dropped) std::free(std::exchange(dropped, dropped->older));
}

size_t rounded(size_t bytes) {
  check(bytes <= SIZE_MAX / 2, "array", bytes, " bytes cannot be allocated.");
  const size_t unit = bytes >= kCachedFrom ? std::bit_floor(bytes) / kPerOctave : kUnit;
  return (bytes + unit - 1) / unit * unit;
}

void* take(size_t capacity) {
  if (void* p = take_small(capacity)) return p;
  if (capacity >= kCachedFrom) {
    Idle* dropped;
    {
      std::lock_guard lock(cache_mutex);
      if (void* p = cache.take(capacity)) return p;
      dropped = cache.make_room(capacity);
    }
    free_all(dropped);
  }
  void* p = std::aligned_alloc(64, sizeof(Storage::Block) + capacity);
  if (!p && capacity >= kCachedFrom) {  // the cache may hold all the memory that is left
    release_cached_memory();
    p = std::aligned_alloc(64, sizeof(Storage::Block) + capacity);
  }
  if (!p)
    fail<RuntimeError>("array", "out of memory: ", capacity, " bytes could not be allocated.");
  return p;
}

void give(void* p, size_t capacity) {
  if (capacity >= kCachedFrom) {
    Idle* dropped;
    {
      std::lock_guard lock(cache_mutex);
      dropped = cache.give(p, capacity);
    }
    return free_all(dropped);
  }
  if (!give_small(p, capacity)) std::free(p);
}

}  // namespace

Storage Storage::allocate(size_t bytes) {
  const size_t capacity = rounded(bytes);
  void* memory = take(capacity);
  auto* block = new (memory) Block;
  block->data.store(block + 1, std::memory_order_relaxed);
  block->bytes = bytes;
  Storage s;
  s.block_ = block;
  return s;
}

Storage Storage::adopt(void* data, size_t bytes, std::function<void()> release) {
  auto* block = new Block;
  block->data.store(data, std::memory_order_relaxed);
  block->bytes = bytes;
  block->is_adopted = true;
  block->release = std::move(release);
  Storage s;
  s.block_ = block;
  return s;
}

Storage Storage::in_engine(std::shared_ptr<EngineMemory> memory, size_t bytes) {
  auto held = std::make_unique<InEngine>();
  held->memory = std::move(memory);
  Storage s = adopt(nullptr, bytes, {});
  s.block_->in_engine = std::move(held);
  return s;
}

Storage::Storage(const Storage& other) noexcept : block_(other.block_) {
  if (block_) block_->refs.fetch_add(1, std::memory_order_relaxed);
}

Storage::~Storage() {
  if (!block_ || block_->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (block_->release) block_->release();
  if (!block_->is_adopted) {
    const size_t capacity = rounded(block_->bytes);
    block_->~Block();
    give(block_, capacity);
  } else {
    delete block_;
  }
}

void* Storage::data() const {
  void* data = block_->data.load(std::memory_order_acquire);
  if (data || !block_->in_engine) return data;
  InEngine& held = *block_->in_engine;
  std::lock_guard lock(held.mutex);
  if (held.memory) {
    Storage here = allocate(block_->bytes);
    held.memory->copy_out(here.data());
    held.here = std::move(here);
    // Whoever has the pointer may write through it, so the engine's copy is no longer valid.
    held.memory = nullptr;
    block_->data.store(held.here.data(), std::memory_order_release);
  }
  return held.here.data();
}
std::shared_ptr<EngineMemory> Storage::engine_memory() const {
  if (!block_->in_engine) return nullptr;
  std::lock_guard lock(block_->in_engine->mutex);
  return block_->in_engine->memory;
}
size_t Storage::bytes() const { return block_->bytes; }
bool Storage::unique() const { return block_ && block_->refs.load(std::memory_order_acquire) == 1; }

bool Storage::is_ours() const { return block_ && !block_->is_adopted; }

void release_cached_memory() {
  Idle* dropped;
  {
    std::lock_guard lock(cache_mutex);
    dropped = cache.release_all();
  }
  free_all(dropped);
}

}  // namespace horngate
