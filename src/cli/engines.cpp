// horngate engines: lists them; install, remove and test are done in Python.
#include <cstdio>

#include "commands.h"
#include "python.h"

namespace horngate::cli {
namespace {

namespace fs = std::filesystem;

/// The installer needs no Python module, only its folder: in a build tree, an installation, or a wheel.
fs::path installer() {
  for (const char* place :
       {"../python/horngate/_installer", "../share/horngate/installer", "../_installer"}) {
    const fs::path folder = program_folder() / place;
    std::error_code ignored;
    if (fs::exists(folder / "__main__.py", ignored)) return folder.lexically_normal();
  }
  return {};
}

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
    const fs::path folder = installer();
    Arguments words = {"-m", "horngate", "engines"};
    if (!folder.empty()) words = {folder.string()};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const int code = run_python("horngate engines " + what, words);
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
