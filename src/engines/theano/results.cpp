// Shared memory in which the worker computes results and which then belongs to the caller, without a copy.
#include "results.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace horngate::theano {

struct Results::Held {
  std::shared_ptr<Results> results;
  int set;
  char* data;
  size_t bytes;
  static void release(void* self);
};

/// All that exist. Its mutex is held only for moments, and across a fork.
struct ForkGuard {
  std::mutex mutex;
  std::vector<Results*> all;

  static ForkGuard& get() {
    static auto* guard = [] {
      pthread_atfork([] { get().before(); }, [] { get().mutex.unlock(); },
                     [] { get().mutex.unlock(); });
      return new ForkGuard;  // never destroyed: results may be released late
    }();
    return *guard;
  }

  void before() {
    mutex.lock();
    for (Results* r : all)
      for (const Results::Held* held : r->held_) r->make_private(*held);
  }
};

namespace {

size_t page_size() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

size_t up_to(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

/// Large results do not share pages.
size_t Results::room(size_t n) { return up_to(n, n < kLeast ? 64 : page_size()); }
size_t Results::start(size_t end, size_t n) { return up_to(end, n < kLeast ? 64 : page_size()); }

Results::Results(size_t bytes_of_a_set)
    : set_bytes_(up_to(std::max<size_t>(bytes_of_a_set, 1), page_size())) {
  fd_ = memfd_create("horngate-theano-results", MFD_CLOEXEC);
  void* map = MAP_FAILED;
  // Pages that are never used take no memory.
  if (fd_ >= 0 && ftruncate(fd_, static_cast<off_t>(kSets * set_bytes_)) == 0)
    map = mmap(nullptr, kSets * set_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (map == MAP_FAILED) {
    close_file();
    throw std::runtime_error("out of memory: cannot get shared memory");
  }
  map_ = static_cast<char*>(map);
  ForkGuard& guard = ForkGuard::get();
  const std::lock_guard lock(guard.mutex);
  guard.all.push_back(this);
}

Results::~Results() {
  {
    ForkGuard& guard = ForkGuard::get();
    const std::lock_guard lock(guard.mutex);
    guard.all.erase(std::find(guard.all.begin(), guard.all.end(), this));
  }
  munmap(map_, kSets * set_bytes_);
  close_file();
}

void Results::close_file() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

int Results::free_set() const {
  const std::lock_guard lock(ForkGuard::get().mutex);
  for (int set = 1; set < kSets; ++set)
    if (!lost_[set] &&
        std::none_of(held_.begin(), held_.end(), [&](const Held* h) { return h->set == set; }))
      return set;
  return 0;
}

bool Results::is_held() const {
  const std::lock_guard lock(ForkGuard::get().mutex);
  return !held_.empty();
}

bool Results::is_spent() const {
  const std::lock_guard lock(ForkGuard::get().mutex);
  return std::all_of(lost_ + 1, lost_ + kSets, [](bool lost) { return lost; });
}

void Results::give(hg_buffer& out, int set, size_t place, size_t bytes) {
  auto held = std::make_unique<Held>(Held{shared_from_this(), set, at(set, place), bytes});
  const std::lock_guard lock(ForkGuard::get().mutex);
  held_.push_back(held.get());
  out.data = held->data;
  out.owner = held.release();
  out.release = Held::release;
}

void Results::Held::release(void* self) {
  // Deleted after the lock is released: it may be the last owner, whose destructor takes the lock too.
  const std::unique_ptr<Held> held(static_cast<Held*>(self));
  const std::lock_guard lock(ForkGuard::get().mutex);
  std::vector<Held*>& all = held->results->held_;
  all.erase(std::find(all.begin(), all.end(), held.get()));
}

/// Replaces the shared pages with a copy. Without memory for it they stay shared, but no other run uses them.
void Results::make_private(const Held& held) {
  lost_[held.set] = true;
  const size_t size = room(held.bytes);
  void* copy = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return;
  std::memcpy(copy, held.data, held.bytes);
  if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, held.data) == MAP_FAILED)
    munmap(copy, size);
}

}  // namespace horngate::theano
