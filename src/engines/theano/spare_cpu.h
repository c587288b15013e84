// Whether a CPU has nothing to do: then a process may look for a message instead of sleeping until it comes.
#pragma once

#include <chrono>

namespace horngate::theano {

class SpareCpu {
 public:
  SpareCpu();
  ~SpareCpu();
  SpareCpu(const SpareCpu&) = delete;

  /// The answer is some milliseconds old at most. Where it cannot be known: no.
  bool is_there();

 private:
  int running() const;
  int file_ = -1, cpus_ = 1;
  bool answer_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace horngate::theano
