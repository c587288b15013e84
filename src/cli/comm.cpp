// horngate comm: gets and removes MPI libraries; done in Python.
#include <cstdio>

#include "commands.h"
#include "python.h"

namespace horngate::cli {

int comm(const Arguments& arguments) {
  if (!arguments.empty() && (arguments[0] == "install" || arguments[0] == "remove"))
    return run_installer("comm", arguments);
  std::fputs(usage("comm").c_str(), stderr);
  return 2;
}

}  // namespace horngate::cli
