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

/// Tests run the Python module on the engine, but an installation for C++ has none. 0 if Python has it.
int check_module(const std::string& who) {
  constexpr int kNone = 77;
  const int code =
      run_python(who, {"-c",
                       "import sys, importlib.util\n"
                       "if importlib.util.find_spec('horngate') is None: sys.exit(77)"});
  if (code != kNone) return code;
  std::fprintf(stderr,
               "%s: needs Horngate's Python module, which %s does not have: install it there with "
               "pip, or set HORNGATE_PYTHON to a Python that has it.\n",
               who.c_str(), find_python().c_str());
  return 1;
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
