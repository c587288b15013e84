// NodeIndex: a number for each node of a set, for walks over graphs with millions of nodes. Nodes made one after
// another have neighbouring ids, so numbers lie in pages of sixteen ids: six bytes per node, and a walk along a chain
// stays in the cache.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "ir/node.h"

namespace horngate {

class NodeIndex {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  /// The node's number; kNone if it has none.
  uint32_t find(const Node* node) const {
    const size_t entry = entry_of(node->id / kPage + 1);
    return entry == kMissing ? kNone : pages_[directory_[entry].page][node->id % kPage];
  }
  /// A reference to set the number through; kNone if the node has none yet. Valid until the next call.
  uint32_t& operator[](const Node* node) {
    const uint64_t key = node->id / kPage + 1;  // 0 is an empty entry
    size_t entry = entry_of(key);
    if (entry == kMissing) entry = add(key);
    return pages_[directory_[entry].page][node->id % kPage];
  }

 private:
  static constexpr uint64_t kPage = 16;
  static constexpr size_t kMissing = ~size_t{0};
  struct Entry {
    uint64_t key = 0;
    uint32_t page = 0;
  };

  size_t start_of(uint64_t key) const { return (key * 0x9e3779b97f4a7c15ull) >> shift_; }

  size_t entry_of(uint64_t key) const {
    if (directory_.empty()) return kMissing;
    const size_t mask = directory_.size() - 1;
    for (size_t i = start_of(key);; i = (i + 1) & mask) {
      if (directory_[i].key == key) return i;
      if (directory_[i].key == 0) return kMissing;
    }
  }

  size_t add(uint64_t key) {
    if (2 * (pages_.size() + 1) > directory_.size()) grow();
    pages_.emplace_back().fill(kNone);
    return insert({key, static_cast<uint32_t>(pages_.size() - 1)});
  }

  size_t insert(Entry entry) {
    const size_t mask = directory_.size() - 1;
    size_t i = start_of(entry.key);
    while (directory_[i].key != 0) i = (i + 1) & mask;
    directory_[i] = entry;
    return i;
  }

  void grow() {
    std::vector<Entry> before(directory_.empty() ? 16 : 2 * directory_.size());
    std::swap(before, directory_);
    shift_ = 64 - std::countr_zero(directory_.size());
    for (const Entry& e : before)
      if (e.key != 0) insert(e);
  }

  std::vector<std::array<uint32_t, kPage>> pages_;
  std::vector<Entry> directory_;  // open addressing; at most half full
  int shift_ = 64;
};

}  // namespace horngate
