// Best fit with merging of neighbours.
#include "engines/native/memory_plan.h"

namespace horngate::native {

size_t MemoryPlan::allocate(size_t bytes) {
  const size_t want = padded(bytes);
  const auto fit = by_size_.lower_bound({want, 0});
  if (fit == by_size_.end()) {
    // The last free range can be extended if it touches the end.
    if (!free_.empty()) {
      const auto [offset, size] = *free_.rbegin();
      if (offset + size == end_) {
        by_size_.erase({size, offset});
        free_.erase(offset);
        end_ = offset + want;
        return offset;
      }
    }
    const size_t offset = end_;
    end_ += want;
    return offset;
  }
  const auto [size, offset] = *fit;
  by_size_.erase(fit);
  free_.erase(offset);
  if (size > want) insert(offset + want, size - want);
  return offset;
}

void MemoryPlan::release(size_t offset, size_t bytes) {
  size_t begin = offset, size = padded(bytes);
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && begin + size == next->first) {
    size += next->second;
    by_size_.erase({next->second, next->first});
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      size += before->second;
      by_size_.erase({before->second, before->first});
      free_.erase(before);
    }
  }
  insert(begin, size);
}

void MemoryPlan::insert(size_t offset, size_t bytes) {
  free_[offset] = bytes;
  by_size_.insert({bytes, offset});
}

}  // namespace horngate::native
