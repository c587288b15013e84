// SparseBuffer: a sparse result. The number of its elements is known only when its kernel runs.
#pragma once

#include "engines/native/kernel.h"

namespace horngate::native {

/// The kernel that makes the value calls `resize`, then fills it. Memory is kept between runs: once it is
/// large enough, nothing is allocated.
class SparseBuffer : public SparseView {
 public:
  SparseBuffer() : SparseView{sizeof(SparseView), 0, nullptr, nullptr, nullptr} {}
  SparseBuffer(const SparseBuffer&) = delete;

  /// Room for `count` elements of `item` bytes; the first row begins at 0.
  void resize(int64_t rows, int64_t count, size_t item);
  void assign(const SparseView& from, int64_t rows, size_t item);
  int64_t* row_starts() { return static_cast<int64_t*>(starts_.data()); }
  int64_t* columns() { return static_cast<int64_t*>(columns_.data()); }
  void* data() { return values_.data(); }

  /// The pointer that a kernel gets for a sparse result, and the way back.
  void* pointer() { return static_cast<SparseView*>(this); }
  static SparseBuffer& at(void* pointer) {
    return static_cast<SparseBuffer&>(*static_cast<SparseView*>(pointer));
  }

 private:
  Storage starts_, columns_, values_;
};

}  // namespace horngate::native
