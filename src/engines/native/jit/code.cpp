#include "engines/native/jit/code.h"
#include "ir/fork.h"
#include "ir/interrupt.h"
#include "ir/switches.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

namespace horngate::native::jit {
namespace {

constexpr size_t kVectorBytes = 64;
/// Each takes a page, and Linux limits the number of mappings of a process. With more alive, loops run on the block
/// kernels.
constexpr size_t kMostCodes = 16384;
std::atomic<size_t> codes_alive{0};

/// Code held by some program. An entry goes with the last code made for it.
struct Entry {
  std::weak_ptr<const Code> code;
  size_t made = 0;  // codes for it that are not yet freed
};
using Table = std::map<std::vector<uint64_t>, Entry>;
constinit std::mutex table_mutex;
const AtFork at_fork{table_mutex, ForkOrder::last};
/// Under the mutex. Never destroyed: static programs may outlive anything.
Table& table() {
  static auto* t = new Table;
  return *t;
}

struct Forget {
  Table::iterator at;
  void operator()(const Code* code) const {
    delete code;
    const std::lock_guard lock(table_mutex);
    if (--at->second.made == 0) table().erase(at);
  }
};

}  // namespace

std::unique_ptr<Code> Code::make(const Binary& binary) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = (binary.bytes.size() + page - 1) / page * page;
  std::unique_ptr<Code> code(new Code);
  code->lanes_ = static_cast<size_t>(binary.lanes);
  code->masks_ = binary.masks;
  code->streams_ = binary.streams;
  for (const Stream& s : binary.streams)
    code->operands_ = std::max<size_t>(code->operands_, s.operand + 1u);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  code->memory_ = memory;
  code->bytes_ = bytes;
  codes_alive.fetch_add(1, std::memory_order_relaxed);
  std::memcpy(memory, binary.bytes.data(), binary.bytes.size());
  if (mprotect(memory, bytes, PROT_READ | PROT_EXEC) != 0) return nullptr;
  code->loop_ = reinterpret_cast<Loop>(static_cast<std::byte*>(memory) + binary.entry);
  return code;
}

Code::~Code() {
  if (!memory_) return;
  munmap(memory_, bytes_);
  codes_alive.fetch_sub(1, std::memory_order_relaxed);
}

size_t code_count() { return codes_alive; }

void Code::check(const Recording& recording) {
  interpreter_ = std::make_unique<const Interpreter>(recording);
}

void Code::run_checked(void* const* pointer, size_t n, size_t padded) const {
  const auto expected = interpreter_->expect(pointer, n);
  run_fast(pointer, n, padded);
  interpreter_->compare(expected, pointer, n);
}

// Runs one whole vector, on copies of the operands that are too short for it.
void Code::run_rest(void* const* pointer, size_t done, size_t rest, size_t padded) const {
  void** moved = static_cast<void**>(__builtin_alloca(operands_ * sizeof(void*)));
  char* copies = static_cast<char*>(
      __builtin_alloca_with_align(streams_.size() * kVectorBytes, 8 * kVectorBytes));
  std::copy(pointer, pointer + operands_, moved);
  for (size_t i = 0; i < streams_.size(); ++i) {
    const Stream& s = streams_[i];
    if (s.size == 0) continue;  // does not move
    char* at = static_cast<char*>(pointer[s.operand]) + done * s.size;
    moved[s.operand] = at;
    if (s.operand < padded) continue;
    char* copy = copies + i * kVectorBytes;
    moved[s.operand] = copy;
    if (s.writes) continue;
    std::memset(copy, 0, kVectorBytes);
    std::memcpy(copy, at, rest * s.size);
  }
  loop_(moved, lanes_, 0);
  for (size_t i = 0; i < streams_.size(); ++i) {
    const Stream& s = streams_[i];
    if (!s.writes || s.operand < padded) continue;
    std::memcpy(static_cast<char*>(pointer[s.operand]) + done * s.size, copies + i * kVectorBytes,
                rest * s.size);
  }
}

std::shared_ptr<const Code> compile(const Recording& recording) {
  stop_if_asked();
  std::vector<uint64_t> key = recording.key();
  {
    const std::lock_guard lock(table_mutex);
    if (const auto found = table().find(key); found != table().end())
      if (std::shared_ptr<const Code> code = found->second.code.lock()) return code;
  }
  if (codes_alive.load(std::memory_order_relaxed) >= kMostCodes) return nullptr;
  const Binary binary = emit(recording);
  if (binary.bytes.empty()) return nullptr;
  std::unique_ptr<Code> made = Code::make(binary);
  if (!made) return nullptr;
  if (is_verified()) made->check(recording);
  Table::iterator at;
  {
    const std::lock_guard lock(table_mutex);
    at = table().try_emplace(std::move(key)).first;
    ++at->second.made;
  }
  std::shared_ptr<const Code> code(made.release(), Forget{at});
  std::shared_ptr<const Code>
      other;  // made by another thread meanwhile; ours then goes, after the lock
  const std::lock_guard lock(table_mutex);
  other = at->second.code.lock();
  if (other) return other;
  at->second.code = code;
  return code;
}

}  // namespace horngate::native::jit
