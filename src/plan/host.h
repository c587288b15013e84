// Host: what a running engine asks of us: shall it stop, and where do lines of print_tensor go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "horngate/engine.h"

namespace horngate {

struct Host {
  /// What a run of an engine is given. The host must outlive it.
  hg_run control();
  /// Hands on the lines of print_tensor that have come.
  void flush();

 private:
  static int stopped(void* self);
  static void log(void* self, int level, const char* text);

  /// Milliseconds. The coarse clock costs a quarter of the exact one, and is asked before every step.
  static int64_t now();

  static constexpr int64_t kPeriod = 50;
  int64_t next_check_ = now() + kPeriod;
  std::vector<std::string> lines_;
};

}  // namespace horngate
