// Many small arrays as few large ones: gradients become ready from the last layer to the first, and are summed over the
// ranks in buckets while the rest is still being computed.
#pragma once

#include <span>
#include <vector>

#include "comm/communicator.h"

namespace horngate::comm {

/// An array that is to be summed.
struct Gradient {
  size_t count = 0;
  DType dtype = DType::float32;
};

/// Which gradients go together, by their numbers; a bucket has one dtype.
struct Bucket {
  std::vector<size_t> members;
  size_t count = 0;
  DType dtype = DType::float32;
};

inline constexpr size_t kBucketBytes = 25'000'000, kLastBytes = 1'000'000;

/// In the order in which they are ready, the last gradient first. A bucket is closed when it has `bytes`. What is ready
/// last cannot be hidden behind anything, so the last bucket is kept small: at most `last`, or one gradient. The same on
/// all ranks, since it depends on sizes alone.
std::vector<Bucket> make_buckets(std::span<const Gradient> gradients, size_t bytes = kBucketBytes,
                                 size_t last = kLastBytes);

/// Sums over the ranks what `put` says is ready. For one thread; `put` every gradient once, in any order, then `finish`.
class BucketSum {
 public:
  BucketSum(std::shared_ptr<Communicator> c, std::span<const Gradient> gradients,
            std::vector<Bucket> buckets);

  /// Its data, which stays where it is until finish. Begins the bucket's operation once it is full and all those before
  /// it are: the order must be the same on all ranks. `keep` keeps the memory alive, also after a fault.
  void put(size_t gradient, void* data, const std::shared_ptr<const void>& keep = {});
  /// Waits; then each array is the sum over the ranks.
  void finish();

 private:
  struct State {
    size_t missing = 0;
    bool is_packed =
        false;  // else the arrays lie one behind the other, and are summed where they are
    std::shared_ptr<char[]> memory;
    Communicator::Ticket ticket;
  };
  void begin(size_t bucket);

  const std::shared_ptr<Communicator> c_;
  const std::vector<Gradient> gradients_;
  const std::vector<Bucket> buckets_;
  std::vector<size_t> bucket_of_;
  std::vector<void*> data_;
  std::vector<std::shared_ptr<const void>> keep_;
  std::vector<State> states_;
  size_t next_ = 0;  // bucket that may begin
};

}  // namespace horngate::comm
