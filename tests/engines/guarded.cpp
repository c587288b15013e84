// An engine with memory of its own, as an accelerator has it: native, over pages that nobody can read or write except
// while this engine runs or copies. A host that touches them is killed at that moment, on any machine.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "engines/common/api.h"

namespace {

using namespace horngate::engines;

struct Piece {
  size_t bytes;
  int users = 0;
};
std::mutex mutex;
std::map<const void*, Piece> pieces;
std::atomic<int> copies[3];

size_t whole_pages(size_t bytes) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

/// Pieces that can be read and written as long as it lives.
class Unguarded {
 public:
  ~Unguarded() {
    const std::lock_guard lock(mutex);
    for (const void* data : opened_) {
      Piece& piece = pieces.at(data);
      if (--piece.users == 0) mprotect(const_cast<void*>(data), piece.bytes, PROT_NONE);
    }
  }
  void add(const void* data, size_t bytes) {
    if (bytes == 0) return;
    const std::lock_guard lock(mutex);
    const auto at = pieces.find(data);
    if (at == pieces.end() || at->second.bytes < bytes)
      throw std::runtime_error("got memory that it did not give.");
    opened_.reserve(opened_.size() + 1);
    if (at->second.users == 0 &&
        mprotect(const_cast<void*>(data), at->second.bytes, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("mprotect failed.");
    ++at->second.users;
    opened_.push_back(data);
  }

 private:
  std::vector<const void*> opened_;
};

const hg_engine_api& native() { return *hg_native_engine(HG_ABI); }

struct Executable {
  void* of_native;
  uint32_t n_in, n_out;
};

template <class F>
int guarded(hg_status* status, F&& f) {
  try {
    return f();
  } catch (const std::exception& e) {
    return fail(status, HG_RUNTIME_ERROR, std::string("engine guarded: ") + e.what());
  }
}

int open(const hg_open* how, void** engine, hg_status* status) {
  return native().open(how, engine, status);
}

int supports(void* engine, const hg_graph* graph, uint32_t node) {
  return native().supports(engine, graph, node);
}

int compile(void* engine, const hg_graph* graph, void** executable, hg_status* status) {
  void* made = nullptr;
  if (native().compile(engine, graph, &made, status) != 0) return 1;
  *executable = new Executable{made, graph->n_in, graph->n_out};
  return 0;
}

int run(void* executable, const hg_buffer* const* in, hg_buffer* const* out, const hg_run* how,
        hg_status* status) {
  return guarded(status, [&] {
    const auto& e = *static_cast<Executable*>(executable);
    if (!how || how->size < sizeof(hg_run) || !how->log)
      throw std::runtime_error("a run got nothing to ask the host by.");
    Unguarded memory;
    for (uint32_t i = 0; i < e.n_in; ++i) memory.add(in[i]->data, in[i]->bytes);
    for (uint32_t i = 0; i < e.n_out; ++i) memory.add(out[i]->data, out[i]->bytes);
    return native().run(e.of_native, in, out, how, status);
  });
}

void free_executable(void* executable) {
  auto* e = static_cast<Executable*>(executable);
  native().free_executable(e->of_native);
  delete e;
}

int alloc(void*, size_t bytes, void** data, hg_status* status) {
  return guarded(status, [&] {
    const size_t whole = whole_pages(bytes);
    void* const made = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) throw std::runtime_error("out of memory.");
    const std::lock_guard lock(mutex);
    pieces[made] = {whole};
    *data = made;
    return 0;
  });
}

void free_memory(void*, void* data) {
  const std::lock_guard lock(mutex);
  const auto at = pieces.find(data);
  if (at == pieces.end()) return;
  munmap(data, at->second.bytes);
  pieces.erase(at);
}

int copy(void*, void* to, const void* from, size_t bytes, int direction, hg_status* status) {
  return guarded(status, [&] {
    Unguarded memory;
    if (direction != HG_COPY_IN) memory.add(from, bytes);
    if (direction != HG_COPY_OUT) memory.add(to, bytes);
    std::memcpy(to, from, bytes);
    ++copies[direction];
    return 0;
  });
}

size_t executable_bytes(void* executable) {
  return native().executable_bytes(static_cast<Executable*>(executable)->of_native);
}

hg_engine_api make() {
  const uint64_t caps =
      (native().caps & ~uint64_t{HG_CAP_SPARSE | HG_CAP_EVERYTHING}) | HG_CAP_OWN_MEMORY;
  hg_engine_api api = make_api("guarded", "1", caps, open, supports, compile, run, free_executable,
                               executable_bytes);
  api.alloc = alloc;
  api.free = free_memory;
  api.copy = copy;
  return api;
}

}  // namespace

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  static const hg_engine_api api = make();
  return host_abi == HG_ABI ? &api : nullptr;
}
/// For the test: pieces that are out, and copies so far in one direction.
extern "C" int guarded_live() {
  const std::lock_guard lock(mutex);
  return static_cast<int>(pieces.size());
}
extern "C" int guarded_copies(int direction) { return copies[direction]; }
