// Timing for the benchmarks.
#include "lib/measure.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace horngate::bench {
namespace {

constexpr double kBatch = 500e-6;  // at least, so that reading the clock costs nothing
constexpr double kTurn = 10e-3;    // of batches, before the next contender has its turn
constexpr double kShortCall = 2e-3;
// Idle threads of OpenBLAS and OpenMP spin for up to 30 ms and would take a CPU from the next one.
constexpr auto kSpinning = std::chrono::milliseconds(40);

double now(clockid_t clock = CLOCK_MONOTONIC) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double time_calls(const std::function<void()>& run, int calls, clockid_t clock = CLOCK_MONOTONIC) {
  const double start = now(clock);
  for (int i = 0; i < calls; ++i) run();
  return (now(clock) - start) / calls;
}

/// About the time of a call; as a side effect the contender is warm afterwards.
double guess(const std::function<void()>& run) {
  run();
  const double first = time_calls(run, 1);
  return first < kBatch ? std::min(first, time_calls(run, 20))
                        : std::min(first, time_calls(run, 1));
}

}  // namespace

double Times::min() const { return *std::min_element(samples.begin(), samples.end()); }

double Times::median() const {
  std::vector<double> sorted = samples;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::vector<Times> in_turn(const std::vector<Contender>& contenders, const Budget& budget) {
  std::vector<int> calls;
  std::vector<clockid_t> clocks;
  for (const Contender& c : contenders) {
    const double seconds = std::max(guess(c.run), 1e-8);
    calls.push_back(std::max(1, static_cast<int>(kBatch / seconds)));
    clocks.push_back(budget.cpu_time && seconds > kShortCall ? CLOCK_THREAD_CPUTIME_ID
                                                             : CLOCK_MONOTONIC);
  }
  std::vector<Times> times(contenders.size());
  const double start = now();
  for (int round = 0; round < budget.least_rounds || now() - start < budget.seconds; ++round)
    for (size_t i = 0; i < contenders.size(); ++i) {
      const auto& run = contenders[i].run;
      const bool wakes_threads = budget.threads > 1 && contenders.size() > 1;
      if (wakes_threads) std::this_thread::sleep_for(kSpinning);
      if (wakes_threads || calls[i] > 1) run();  // its threads and its data are back
      const double end = now() + kTurn;
      do times[i].samples.push_back(time_calls(run, calls[i], clocks[i]));
      while (now() < end);
    }
  return times;
}

}  // namespace horngate::bench
