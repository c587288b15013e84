// Host: what a running engine may ask of us: whether to stop, and where lines of print_tensor go.
#pragma once

#include <string>
#include <vector>

#include "horngate/engine.h"

namespace horngate {

struct Host {
  /// What an engine's run is given. The host must outlive it.
  hg_run control();
  /// Passes on the lines of print_tensor that have arrived.
  void flush();

 private:
  static int stopped(void* self);
  static void log(void* self, int level, const char* text);

  std::vector<std::string> lines_;
};

}  // namespace horngate
