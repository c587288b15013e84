// Timing for the benchmarks: contenders run in turn, so that a busy machine hurts all alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace horngate::bench {

/// One way to do the work of a workload; `run` does it once and waits for the result.
struct Contender {
  std::string name;
  std::function<void()> run;
};

/// Seconds per call, one sample per batch of calls.
struct Times {
  std::vector<double> samples;
  double min() const;
  double median() const;
};

struct Budget {
  double seconds = 1.0;  // for all contenders of a workload together
  int threads = 1;
  int least_rounds = 5;
  // CPU time of the calling thread for calls of more than 2 ms. Shorter ones fit between two
  // interruptions, and the CPU clock of a virtual machine is off by more than they take.
  bool cpu_time = false;
};

/// Times of each contender, in their order.
std::vector<Times> in_turn(const std::vector<Contender>& contenders, const Budget& budget);

}  // namespace horngate::bench
