// horngate bench: measures what this machine can do at most, then has Python time us beside other libraries.
#include <horngate/cpus.h>

#include "commands.h"
#include "limits.h"
#include "python.h"

namespace horngate::cli {

int bench(const Arguments& arguments) {
  const std::string who = "horngate bench";
  if (const int code = check_module(who); code != 0) return code;
  const Limits limits = measure_limits(cpu_limits().threads);
  Arguments words = {"-m", "horngate._bench", "--limits",
                     std::to_string(limits.flops) + "," + std::to_string(limits.bandwidth)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_python(who, words);
}

}  // namespace horngate::cli
