#include "engines/native/jit/code.h"
#include "ir/switches.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

namespace horngate::native::jit {
namespace {

constexpr size_t kVectorBytes = 64;
/// Each takes a page, and the kernel limits the number of mappings.
constexpr size_t kMostCodes = 16384;

}  // namespace

std::unique_ptr<Code> Code::make(const Binary& binary) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = (binary.bytes.size() + page - 1) / page * page;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::memcpy(memory, binary.bytes.data(), binary.bytes.size());
  if (mprotect(memory, bytes, PROT_READ | PROT_EXEC) != 0) {
    munmap(memory, bytes);
    return nullptr;
  }
  std::unique_ptr<Code> code(new Code);
  code->memory_ = memory;
  code->bytes_ = bytes;
  code->lanes_ = static_cast<size_t>(binary.lanes);
  code->masks_ = binary.masks;
  code->streams_ = binary.streams;
  for (const Stream& s : binary.streams)
    code->operands_ = std::max<size_t>(code->operands_, s.operand + 1u);
  code->loop_ = reinterpret_cast<Loop>(static_cast<std::byte*>(memory) + binary.entry);
  return code;
}

Code::~Code() {
  if (memory_) munmap(memory_, bytes_);
}

void Code::check(const Recording& recording) {
  interpreter_ = std::make_unique<const Interpreter>(recording);
}

void Code::run_checked(void* const* pointer, size_t n, size_t padded) const {
  const auto expected = interpreter_->expect(pointer, n);
  run_fast(pointer, n, padded);
  interpreter_->compare(expected, pointer, n);
}

// One whole vector, with copies of what is too short for it.
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
  static std::mutex mutex;
  static std::map<std::vector<uint64_t>, std::weak_ptr<const Code>> codes;
  static size_t sweep_at = 64;
  std::vector<uint64_t> key = recording.key();
  const std::lock_guard lock(mutex);
  if (const auto found = codes.find(key); found != codes.end())
    if (std::shared_ptr<const Code> code = found->second.lock()) return code;
  if (codes.size() >= sweep_at) {
    std::erase_if(codes, [](const auto& entry) { return entry.second.expired(); });
    sweep_at = std::max<size_t>(64, 2 * codes.size());
  }
  if (codes.size() >= kMostCodes) return nullptr;
  const Binary binary = emit(recording);
  if (binary.bytes.empty()) return nullptr;
  std::shared_ptr<Code> code = Code::make(binary);
  if (code && is_verified()) code->check(recording);
  if (code) codes[std::move(key)] = code;
  return code;
}

}  // namespace horngate::native::jit
