// horngate: the command line. Arguments are read by hand: each command has three options at most, `profile` hands on the
// words of another program as they are, and one table feeds help and completion.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "commands.h"
#include "python.h"

namespace horngate::cli {
namespace {

constexpr Command kCommands[] = {
    {"info", info, "version, engine and settings in force", "--json"},
    {"doctor", doctor, "what is wrong with this installation, and what to do about it", "--json"},
    {"bench", bench, "a minute's check of this machine beside NumPy and what else is installed",
     "--json --only --list --seconds"},
    {"engines", engines,
     "the engines that can be used, and why others cannot\n"
     "install|remove|test NAME: gets an engine, removes it, runs the cases on it",
     "--json install remove test"},
    {"export", export_model, "MODEL.h5 OUT.onnx: a model that Keras saved, as ONNX", ""},
    {"keras", keras_editions,
     "enable|disable: whether Keras 1.0 to 2.1 takes us in this Python environment",
     "enable disable"},
    {"launch", launch, "-n RANKS PROGRAM ARGUMENTS..: a program as several ranks, on MPI", ""},
    {"comm", comm, "install|remove openmpi|mpich: gets an MPI library, removes it",
     "install remove openmpi mpich"},
    {"profile", profile, "PROGRAM ARGUMENTS.. or TRACE.json: where the time goes, as a table",
     "--top -o"},
    {"show", show,
     "MODEL.h5: the layers of a model that Keras or Horngate saved\nMODEL.h5 "
     "PICTURE.html|svg|png|dot: what its prediction computes, drawn",
     ""},
    {"check", check, "MODEL.h5: whether it can be loaded, and what it holds", "--json"},
    {"completion", completion, "bash: completion of these words, for eval in .bashrc", "bash"},
};

/// In a Python environment, also finds engines that pip installed there.
void use_environment() {
  const auto package = program_folder() / "..";
  std::error_code ignored;
  if (std::filesystem::exists(package / "__init__.py", ignored))
    setenv("HORNGATE_PYTHON_PATHS", (package / "..").lexically_normal().c_str(), 0);
}

std::string usage() {
  std::string text = "usage: horngate COMMAND\n";
  const auto add = [&](std::string name, const std::string& help) {
    name.resize(12, ' ');
    text += "  " + name;
    for (const char c : help) text += c == '\n' ? "\n" + std::string(14, ' ') : std::string(1, c);
    text += "\n";
  };
  for (const Command& c : kCommands) add(c.name, c.help);
  add("help", "this text");
  return text + "info, doctor, bench, engines and check take --json, for programs that read.\n";
}

int run(const std::string& name, const Arguments& arguments) {
  use_environment();
  for (const Command& c : kCommands)
    if (name == c.name) return c.run(arguments);
  if (name == "rank") return rank(arguments);  // what launch starts, for nobody else
  std::fprintf(stderr, "horngate: there is no command \"%s\".\n%s", name.c_str(), usage().c_str());
  return 2;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace horngate::cli

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "help";
  if (name == "help" || name == "--help" || name == "-h") {
    std::fputs(horngate::cli::usage().c_str(), stdout);
    return 0;
  }
  if (name == "--version") {
    std::puts("horngate " HORNGATE_VERSION);
    return 0;
  }
  try {
    return horngate::cli::run(name, horngate::cli::Arguments(argv + 2, argv + argc));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
