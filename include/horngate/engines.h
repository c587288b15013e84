// Which engines there are.
#pragma once

#include <string>
#include <vector>

#include "horngate/export.h"

namespace horngate {

struct EngineInfo {
  std::string name;
  std::string path;     // of the plug-in; empty when it is built in
  std::string version;  // empty while it is unknown
  std::string problem;  // empty when it can be used
  std::string where;  // what the plug-in drives; empty when it needs nothing, or nothing was found
  bool absent = false;  // `horngate engines install` could get it, and nobody did
};

/// Every engine that can be named: native, and the plug-ins that were found.
/// Example: for (const auto& e : K::list_engines()) std::cout << e.name;
[[nodiscard]] HORNGATE_API std::vector<EngineInfo> list_engines();

/// Writes "Using TensorFlow backend." or the like for the engine that is chosen, without opening it. It is written
/// once, here or at the first use. Nothing is written for a name that no engine has: the first use tells.
HORNGATE_API void announce_chosen_engine();

}  // namespace horngate
