// Operations on arrays, made of exchanges.
#pragma once

#include "comm/group.h"

namespace horngate::comm {

/// Memory between the steps of an operation, kept for the next one.
class Scratch {
 public:
  /// At least so many bytes, aligned to 64. What an operation that failed may still write into is not given again.
  std::shared_ptr<char[]> get(size_t bytes);

 private:
  std::shared_ptr<char[]> memory_;
  size_t bytes_ = 0;
};

/// Does it, blocking.
void perform(Group& group, const Operation& op, const Patience& patience, Scratch& scratch);

/// Of a single rank: a copy, if anything.
void perform_alone(const Operation& op);

}  // namespace horngate::comm
