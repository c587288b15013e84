// Open addressing, linear probing.
#include "ir/number_table.h"

#include <bit>
#include <utility>

namespace horngate {

void NumberTable::reserve(size_t count) {
  size_t slots = 16;
  while (3 * slots < 4 * count) slots *= 2;
  if (slots > slots_.size()) resize(slots);
}

void NumberTable::insert(uint64_t hash, uint32_t number) {
  if (4 * (used_ + 1) > 3 * slots_.size()) resize(slots_.empty() ? 16 : 2 * slots_.size());
  ++used_;
  put({mark_of(hash), number});
}

void NumberTable::resize(size_t slots) {
  std::vector<Entry> before(slots);
  std::swap(before, slots_);
  shift_ = 64 - std::countr_zero(slots);
  for (const Entry& s : before)
    if (s.number != kNone) put(s);
}

void NumberTable::put(Entry slot) {
  size_t i = place_of(slot.mark);
  while (slots_[i].number != kNone) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = slot;
}

}  // namespace horngate
