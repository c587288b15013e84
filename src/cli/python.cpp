// What the command leaves to Python: which interpreter, and running it.
#include "python.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace horngate::cli {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// The module path, with that of the build tree if this program is in one.
std::string python_path() {
  const char* set = std::getenv("PYTHONPATH");
  const std::string others = set ? set : "";
  const fs::path module = (program_folder() / ".." / "python").lexically_normal();
  if (!is_there(module / "horngate" / "__init__.py")) return others;
  return module.string() + (others.empty() ? "" : ":" + others);
}

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

}  // namespace

fs::path program_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path(".") : self.parent_path();
}

std::string find_python() {
  if (const char* set = std::getenv("HORNGATE_PYTHON"); set && *set) return set;
  const fs::path here = program_folder();
  const bool is_build = is_there(here / ".." / "python" / "horngate" / "__init__.py");
  const fs::path clone = here / ".." / ".." / ".venv" / "bin" / "python";
  if (is_build && is_there(clone)) return clone.lexically_normal().string();
  const fs::path beside = here / "python3";
  return is_there(beside) ? beside.string() : "python3";
}

int run_python(const std::string& who, const std::vector<std::string>& words) {
  std::vector<std::string> command = {find_python()};
  command.insert(command.end(), words.begin(), words.end());
  const ScopedVariable path("PYTHONPATH", python_path());
  try {
    return run_child(command);
  } catch (const std::system_error& e) {
    std::fprintf(stderr, "%s: \"%s\" cannot be run: %s. Set HORNGATE_PYTHON.\n", who.c_str(),
                 command[0].c_str(), e.code().message().c_str());
    return 1;
  }
}

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

Output ask_python(const std::string& program) {
  const ScopedVariable path("PYTHONPATH", python_path());
  return output_of({find_python(), "-c", program});
}

int run_installer(const std::string& kind, const std::vector<std::string>& arguments) {
  const fs::path folder = installer();
  std::vector<std::string> words = {"-m", "horngate", kind};
  if (!folder.empty()) words = {folder.string(), kind};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_python("horngate " + kind + " " + arguments[0], words);
}

}  // namespace horngate::cli
