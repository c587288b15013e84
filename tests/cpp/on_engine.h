// Functions on an engine of the tests.
#pragma once

#include <horngate/horngate.h>

#include <cstdlib>
#include <string>

#include "engines/registry.h"

namespace horngate::testing {

/// Functions run on that engine as long as this lives.
class OnEngine {
 public:
  explicit OnEngine(const std::string& name) {
    setenv("HORNGATE_ENGINE_PATH", HORNGATE_TEST_ENGINE_DIR ":" HORNGATE_TEST_PLUGIN_DIR, 1);
    reset();
    set_engine(name);
  }
  ~OnEngine() { reset(); }
  OnEngine(const OnEngine&) = delete;
  OnEngine& operator=(const OnEngine&) = delete;

 private:
  static void reset() {
    reset_settings();
    set_quiet(true);
    reset_current_engine();
  }
};

}  // namespace horngate::testing
