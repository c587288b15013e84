// horngate engines: lists them; install, remove and test are done in Python.
#include <cstdio>

#include "commands.h"
#include "python.h"

namespace horngate::cli {
namespace {

/// Engines that were just installed must also open.
int show_ready(const Arguments& words) {
  Arguments names = {"--only"};
  for (size_t i = 1; i < words.size(); ++i)
    if (words[i].rfind("--", 0) != 0) names.push_back(words[i]);
  return engines_list(names);
}

}  // namespace

int engines(const Arguments& arguments) {
  const std::string what = arguments.empty() ? "" : arguments[0];
  if (what == "install" || what == "remove") {
    const int code = run_installer("engines", arguments);
    return code == 0 && what == "install" ? show_ready(arguments) : code;
  }
  if (what == "test") {
    const std::string who = "horngate engines test";
    if (const int code = check_module(who); code != 0) return code;
    Arguments words = {"-m", "horngate", "engines"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_python(who, words);
  }
  return engines_list(arguments);
}

}  // namespace horngate::cli
