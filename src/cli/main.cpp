// horngate: the command line.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>

#include "commands.h"
#include "python.h"

namespace {

/// In a Python environment, also finds engines that pip installed there.
void use_environment() {
  const auto package = horngate::cli::program_folder() / "..";
  std::error_code ignored;
  if (std::filesystem::exists(package / "__init__.py", ignored))
    setenv("HORNGATE_PYTHON_PATHS", (package / "..").lexically_normal().c_str(), 0);
}

constexpr const char* kUsage =
    "usage: horngate COMMAND\n"
    "  info      version, engine and settings in force\n"
    "  engines   the engines that can be used, and why others cannot; --json: as JSON\n"
    "  engines install|remove|test NAME: gets an engine, removes it, runs the cases on it\n"
    "  export    MODEL.h5 OUT.onnx: a model that Keras saved, as ONNX\n"
    "  keras     enable|disable: whether Keras 1.0 to 2.1 takes us in this Python environment\n"
    "  profile   PROGRAM ARGUMENTS.. or TRACE.json: where the time goes, as a table\n"
    "  show      MODEL.h5: the layers of a model that Keras or Horngate saved\n"
    "  check     MODEL.h5: whether it can be loaded, and what it holds\n"
    "  help      this text\n";

}  // namespace

int main(int argc, char** argv) {
  using namespace horngate::cli;
  const std::map<std::string, int (*)(const Arguments&)> commands = {
      {"info", info},           {"engines", engines},
      {"export", export_model}, {"keras", keras_editions},
      {"profile", profile},     {"show", show},
      {"check", check}};
  const std::string name = argc > 1 ? argv[1] : "help";
  if (name == "help" || name == "--help" || name == "-h") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (name == "--version") {
    std::puts("horngate " HORNGATE_VERSION);
    return 0;
  }
  use_environment();
  const auto it = commands.find(name);
  if (it == commands.end()) {
    std::fprintf(stderr, "horngate: there is no command \"%s\".\n%s", name.c_str(), kUsage);
    return 2;
  }
  try {
    return it->second(Arguments(argv + 2, argv + argc));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
