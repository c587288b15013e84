// MemoryPlan: offsets in one arena, handed out and taken back in step order.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "ir/align.h"

namespace horngate::native {

class MemoryPlan {
 public:
  /// A free range of that size (best fit), or new memory at the end.
  size_t allocate(size_t bytes);
  void release(size_t offset, size_t bytes);
  size_t peak() const { return end_; }

 private:
  static size_t padded(size_t bytes) { return bytes == 0 ? 64 : aligned_bytes(bytes); }
  void insert(size_t offset, size_t bytes);

  std::map<size_t, size_t> free_;                // offset -> bytes
  std::set<std::pair<size_t, size_t>> by_size_;  // (bytes, offset)
  size_t end_ = 0;
};

}  // namespace horngate::native
