// Code: a compiled loop over blocks. Its memory is written first and then made executable; it is
// never both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engines/native/jit/interpreter.h"
#include "engines/native/jit/micro.h"

namespace horngate::native::jit {

/// Memory that the loop walks through.
struct Stream {
  uint16_t operand;
  uint8_t size;  // per element
  bool writes;
  bool operator==(const Stream&) const = default;
};

/// What emit() makes: instructions, then constants at a multiple of 64.
struct Binary {
  std::vector<uint8_t> bytes;
  size_t entry = 0;  // offset at which a call enters
  std::vector<Stream> streams;
  int lanes = 0;
  bool masks = false;  // can mask the lanes of a shorter last vector
};

/// Machine code for a recording. Empty bytes if it needs more registers than there are.
Binary emit(const Recording& recording);

class Code {
 public:
  /// Null if the system provides no executable memory.
  static std::unique_ptr<Code> make(const Binary& binary);
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  /// n elements at pointer[operand] for each operand. Operands below `padded` may be read and
  /// written up to the end of their last vector.
  void run(void* const* pointer, size_t n, size_t padded) const {
    if (interpreter_) [[unlikely]]
      return run_checked(pointer, n, padded);
    run_fast(pointer, n, padded);
  }
  /// From now on, interprets the recording alongside the code.
  void check(const Recording& recording);
  size_t bytes() const { return bytes_; }

 private:
  Code() = default;
  void run_fast(void* const* pointer, size_t n, size_t padded) const {
    const size_t rest = n & (lanes_ - 1);
    if (masks_) return loop_(pointer, n - rest, (size_t{1} << rest) - 1);
    if (n != rest) loop_(pointer, n - rest, 0);
    if (rest != 0) run_rest(pointer, n - rest, rest, padded);
  }
  void run_checked(void* const* pointer, size_t n, size_t padded) const;
  void run_rest(void* const* pointer, size_t done, size_t rest, size_t padded) const;

  using Loop = void (*)(void* const* pointer, size_t whole, size_t rest_lanes);
  Loop loop_ = nullptr;
  size_t lanes_ = 0, operands_ = 0, bytes_ = 0;
  bool masks_ = false;
  void* memory_ = nullptr;
  std::vector<Stream> streams_;
  std::unique_ptr<const Interpreter> interpreter_;
};

/// The code of a recording: made on first use, shared by equal ones for as long as one of them
/// lives. Null if it cannot be made.
std::shared_ptr<const Code> compile(const Recording& recording);

/// Codes alive; for tests.
size_t code_count();

}  // namespace horngate::native::jit
