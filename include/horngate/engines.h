// The available engines.
#pragma once

#include <string>
#include <vector>

#include "horngate/export.h"

namespace horngate {

struct EngineInfo {
  std::string name;
  std::string path;     // of the plug-in; empty if built in
  std::string version;  // empty while it is unknown
  std::string problem;  // empty if it can be used
  std::string where;  // what the plug-in drives; empty when it needs nothing, or nothing was found
  bool absent = false;  // `horngate engines install` could get it, but nobody did
};

/// Every engine that can be named: native, and the plug-ins that were found.
/// Example: for (const auto& e : K::list_engines()) std::cout << e.name;
[[nodiscard]] HORNGATE_API std::vector<EngineInfo> list_engines();

/// Writes "Using TensorFlow backend." or the like for the chosen engine, without opening it. This happens once,
/// here or at the first use. If no engine has that name nothing is written: the first use reports it.
HORNGATE_API void announce_chosen_engine();

}  // namespace horngate
