// Shared memory in which the worker computes results and which then belongs to the caller, without a copy.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "horngate/engine.h"

namespace horngate::theano {

/// The places of a program's results, in several sets: while the caller holds results in one, the next run takes
/// another. Before the process forks, what the caller holds becomes private memory, so that neither the child
/// nor a later run can change it.
class Results : public std::enable_shared_from_this<Results> {
 public:
  /// Set 0 is never given away: while all others are held, results are copied from it.
  static constexpr int kSets = 4;
  /// Smaller results are copied: tracking them would cost more.
  static constexpr size_t kLeast = 32 << 10;

  /// Throws if there is no memory.
  explicit Results(size_t bytes_of_a_set);
  ~Results();
  Results(const Results&) = delete;

  /// The room that n bytes take in a set, and where they begin in one that is used up to `end`.
  static size_t room(size_t n);
  static size_t start(size_t end, size_t n);

  size_t bytes_of_a_set() const { return set_bytes_; }
  char* at(int set, size_t place) const {
    return map_ + static_cast<size_t>(set) * set_bytes_ + place;
  }
  int fd() const { return fd_; }  // -1 once the worker has mapped it
  void close_file();

  /// A set of which nothing is held; 0 if there is none.
  int free_set() const;
  bool is_held() const;
  /// Whether no set but 0 can be used any more.
  bool is_spent() const;
  /// Lets the caller own the memory at this place until it is released.
  void give(hg_buffer& out, int set, size_t place, size_t bytes);

 private:
  struct Held;
  friend struct ForkGuard;
  void make_private(const Held& held);

  size_t set_bytes_ = 0;
  int fd_ = -1;
  char* map_ = nullptr;
  std::vector<Held*> held_;
  bool lost_[kSets] = {};  // part of the set is no longer shared with the worker
};

}  // namespace horngate::theano
