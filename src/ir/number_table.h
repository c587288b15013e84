// NumberTable: finds equal items among numbered ones without one allocation per item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace horngate {

/// Numbers by a hash of the items, which lie elsewhere. Eight bytes each: graphs may have millions of nodes.
class NumberTable {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  void reserve(size_t count);
  void insert(uint64_t hash, uint32_t number);
  /// A number with that hash for which is_it(number) holds; kNone if there is none.
  template <class F>
  uint32_t find(uint64_t hash, const F& is_it) const {
    if (slots_.empty()) return kNone;
    const uint32_t mark = mark_of(hash);
    for (size_t i = place_of(mark); slots_[i].number != kNone; i = (i + 1) & (slots_.size() - 1))
      if (slots_[i].mark == mark && is_it(slots_[i].number)) return slots_[i].number;
    return kNone;
  }

 private:
  struct Entry {
    uint32_t mark = 0;  // half of the hash
    uint32_t number = kNone;
  };
  static uint32_t mark_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32 ^ hash); }
  size_t place_of(uint32_t mark) const { return (mark * 0x9e3779b97f4a7c15ull) >> shift_; }
  void resize(size_t slots);
  void put(Entry slot);

  std::vector<Entry> slots_;  // a power of two of them, at most three quarters in use
  size_t used_ = 0;
  int shift_ = 64;
};

}  // namespace horngate
