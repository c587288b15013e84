// Interpreter: runs micro code one element at a time in plain C++, to check its machine code.
#pragma once

#include <string>
#include <vector>

#include "engines/native/jit/micro.h"

namespace horngate::native::jit {

class Interpreter {
 public:
  explicit Interpreter(const Recording& recording);

  /// What the loop must store for n elements at these operands. Call before it runs, since results may
  /// overwrite operands.
  std::vector<std::vector<uint8_t>> expect(void* const* pointer, size_t n) const;
  /// Records the first difference, if any, for take_difference().
  void compare(const std::vector<std::vector<uint8_t>>& expected, void* const* pointer,
               size_t n) const;

 private:
  void element(void* const* pointer, size_t i, std::vector<uint64_t>& lanes) const;

  const std::vector<Micro> code_;
  const int width_;
};

/// The first difference since the last call, or empty.
std::string take_difference();

}  // namespace horngate::native::jit
