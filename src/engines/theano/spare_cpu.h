// Whether a CPU is idle: then a process may poll for a message instead of sleeping until it comes.
#pragma once

#include <chrono>

namespace horngate::theano {

class SpareCpu {
 public:
  SpareCpu();
  ~SpareCpu();
  SpareCpu(const SpareCpu&) = delete;

  /// The answer is at most some milliseconds old. No, if it cannot be known.
  bool is_there();

 private:
  int running() const;
  int file_ = -1, cpus_ = 1;
  bool answer_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace horngate::theano
