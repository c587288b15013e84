// Host: what a running engine asks of us: shall it stop, and where do lines of print_tensor go.
#pragma once

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

  std::vector<std::string> lines_;
};

}  // namespace horngate
