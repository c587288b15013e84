// Hands out numbered pieces of work: each taker has its own share of neighbouring pieces and helps the
// others when it is done. What a thread read last time is then in its own caches, not in another's.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace horngate::native {

class Shares {
 public:
  static constexpr int kMost = 16;  // beyond that, takers double up on a share

  void divide(int64_t pieces, int takers) {
    count_ = std::clamp(takers, 1, kMost);
    const int64_t each = pieces / count_, larger = pieces % count_;
    for (int64_t i = 0, end = 0; i < count_; ++i) {
      Share& share = shares_[static_cast<size_t>(i)];
      share.next.store(end, std::memory_order_relaxed);
      share.end = end += each + (i < larger);
    }
  }

  /// False when all pieces are taken.
  bool take(int taker, int64_t& piece) {
    for (int i = 0, at = taker % count_; i < count_; ++i, at = at + 1 == count_ ? 0 : at + 1) {
      Share& share = shares_[static_cast<size_t>(at)];
      // Look first, so that the counter does not run on past the end.
      if (share.next.load(std::memory_order_relaxed) >= share.end) continue;
      piece = share.next.fetch_add(1, std::memory_order_relaxed);
      if (piece < share.end) return true;
    }
    return false;
  }

 private:
  struct alignas(64) Share {  // one per cache line
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  std::array<Share, kMost> shares_;
  int count_ = 1;
};

}  // namespace horngate::native
