// horngate: the command line. Arguments are read by hand: each command has a few options, `profile` and `launch` pass
// on the words of another program unchanged, and one table (commands.cpp) feeds help, usage and completion.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "commands.h"
#include "python.h"

namespace horngate::cli {
namespace {

/// In a Python environment, also finds engines that pip installed there.
void use_environment() {
  const auto package = program_folder() / "..";
  std::error_code ignored;
  if (std::filesystem::exists(package / "__init__.py", ignored))
    setenv("HORNGATE_PYTHON_PATHS", (package / "..").lexically_normal().c_str(), 0);
}

/// `horngate help COMMAND`, or the list of all commands.
int help(const Arguments& arguments) {
  const bool known = !arguments.empty() && find_command(arguments[0]);
  std::fputs(known ? usage(arguments[0]).c_str() : usage().c_str(), stdout);
  return 0;
}

int run(const std::string& name, const Arguments& arguments) {
  if (name == "help" || name == "--help" || name == "-h") return help(arguments);
  if (const Command* c = find_command(name)) {
    if (wants_help(*c, arguments)) return help({name});
    use_environment();
    return c->run(arguments);
  }
  if (name == "rank") {  // what launch starts, for nobody else
    use_environment();
    return rank(arguments);
  }
  std::fprintf(stderr, "horngate: there is no command \"%s\".\n%s", name.c_str(), usage().c_str());
  return 2;
}

}  // namespace
}  // namespace horngate::cli

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "help";
  if (name == "--version") {
    std::puts("horngate " HORNGATE_VERSION);
    return 0;
  }
  try {
    return horngate::cli::run(name,
                              horngate::cli::Arguments(argv + (argc > 1 ? 2 : 1), argv + argc));
  } catch (const std::exception& e) {
    const std::string text = e.what();
    std::fprintf(stderr, text.ends_with('\n') ? "%s" : "%s\n", text.c_str());
    return 1;
  }
}
