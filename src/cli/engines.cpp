// horngate engines: a line per engine.
#include <cstdio>

#include "commands.h"
#include "horngate/config.h"
#include "horngate/engines.h"

namespace horngate::cli {

int engines(const Arguments&) {
  const std::string current = backend();
  for (const EngineInfo& e : list_engines())
    std::printf("%c %-12s %-10s %s%s\n", e.name == current ? '*' : ' ', e.name.c_str(),
                e.version.c_str(), e.problem.empty() ? "ready  " : e.problem.c_str(),
                e.problem.empty() ? e.path.c_str() : "");
  return 0;
}

}  // namespace horngate::cli
