// Profile: what ran when. Off until HORNGATE_PROFILE or profile_start() names a file; after that each bar costs
// two clock readings and an entry in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "ir/name.h"

namespace horngate::profile {

/// What a step has to do: arithmetic, and bytes of operands and results.
struct Work {
  double flops = 0, bytes = 0;
  Work& operator+=(const Work& more) {
    flops += more.flops;
    bytes += more.bytes;
    return *this;
  }
};

extern std::atomic<bool> on;

/// Starts what HORNGATE_PROFILE asks for, once per process; throws if its file cannot be written.
void start_from_environment();
int64_t now();  // nanoseconds
void add(std::string_view what, const NodeName& node, const Work& work, int64_t begin, int64_t end);

/// Runs f as one bar.
template <class F>
void bar(std::string_view what, const NodeName& node, const Work& work, F&& f) {
  const int64_t begin = now();
  f();
  add(what, node, work, begin, now());
}

/// One bar from here to the end of the scope, if profiling is on.
class Scope {
 public:
  explicit Scope(std::string_view what)
      : what_(what), begin_(on.load(std::memory_order_relaxed) ? now() : -1) {}
  ~Scope() {
    if (begin_ >= 0) add(what_, NodeName(), Work(), begin_, now());
  }
  Scope(const Scope&) = delete;

 private:
  std::string_view what_;
  int64_t begin_;
};

}  // namespace horngate::profile
