// What handing work to the other threads costs: our pool beside OpenMP's, in turn. Each round has a serial part, as calls
// have, then a loop whose pieces take some microseconds. bench_threads [pieces' microseconds ...]
#include "engines/native/threads.h"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void work(double microseconds) {
  const Clock::time_point begin = Clock::now();
  while (seconds_since(begin) * 1e6 < microseconds) {
  }
}

/// The fastest round and the one in the middle, in microseconds, of the parallel part alone.
template <class F>
std::pair<double, double> measure(F loop, double serial) {
  std::vector<double> times;
  for (int round = 0; round < 2000; ++round) {
    work(serial);
    const Clock::time_point begin = Clock::now();
    loop();
    times.push_back(seconds_since(begin) * 1e6);
  }
  std::sort(times.begin(), times.end());
  return {times[0], times[times.size() / 2]};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<double> pieces;
  for (int i = 1; i < argc; ++i) pieces.push_back(std::atof(argv[i]));
  if (pieces.empty()) pieces = {1, 5, 20, 100};
  const int threads = horngate::native::thread_count();
  omp_set_num_threads(threads);
  std::printf("%d threads; the parallel part in microseconds, minimum and median\n", threads);
  std::printf("%8s %8s %18s %18s\n", "piece", "serial", "ours", "OpenMP");
  for (const double piece : pieces)
    for (const double serial : {5.0, 50.0, 1000.0}) {
      std::pair<double, double> best[2] = {{1e9, 1e9}, {1e9, 1e9}};
      for (int turn = 0; turn < 3; ++turn) {
        const auto ours = measure(
            [&] {
              horngate::native::parallel_for(threads, 1, [&](int64_t begin, int64_t end) {
                for (; begin < end; ++begin) work(piece);
              });
            },
            serial);
        const auto theirs = measure(
            [&] {
#pragma omp parallel for schedule(static)
              for (int i = 0; i < threads; ++i) work(piece);
            },
            serial);
        for (auto [to, from] : {std::pair(&best[0], ours), std::pair(&best[1], theirs)}) {
          to->first = std::min(to->first, from.first);
          to->second = std::min(to->second, from.second);
        }
      }
      std::printf("%8.0f %8.0f %8.2f %8.2f  %8.2f %8.2f\n", piece, serial, best[0].first,
                  best[0].second, best[1].first, best[1].second);
    }
}
