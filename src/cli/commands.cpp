// The table of commands, which feeds help, usage and completion.
#include "commands.h"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace horngate::cli {
namespace {

constexpr const char* kJson = "--json  JSON on standard output, for other programs\n";

constexpr Command kCommands[] = {
    {"info", info, "version, engine and settings in force", "--json", "[--json]\n", kJson},
    {"doctor", doctor, "what is wrong with this installation, and what to do about it", "--json",
     "[--json]\n", kJson},
    {"bench", bench,
     "times this machine for about a minute, beside NumPy and other installed libraries",
     "--json --only --list --seconds", "[--json] [--only CASE..] [--seconds N]\n--list\n",
     "--json         JSON on standard output, for other programs\n"
     "--only CASE..  only these cases\n"
     "--seconds N    about how long it may take in all; default 60\n"
     "--list         only lists the cases and the libraries that take part\n"},
    {"engines", engines,
     "the engines that can be used, and why others cannot\n"
     "install|remove|test NAME: gets an engine, removes it, runs the cases on it",
     "--json install remove test",
     "[--json]\ninstall NAME.. [--force]\nremove NAME..\ntest NAME [--all] [ARGUMENTS OF "
     "PYTEST..]\n",
     "--json   JSON on standard output, for other programs\n"
     "--force  installs even if it is there already\n"
     "--all    every case, not only a selection\n"
     "Engines go to HORNGATE_HOME/engines; HORNGATE_HOME is $HOME/.horngate if it is not set.\n"},
    {"export", export_model, "MODEL.h5 OUT.onnx: a model that Keras saved, as ONNX", "",
     "MODEL.h5 OUT.onnx\n", "In Python and C++ any function: K.export_onnx, K::export_onnx.\n"},
    {"keras", keras_editions,
     "enable|disable: lets Keras 1.0 to 2.1 use Horngate in this Python environment, or not",
     "enable disable", "[enable|disable]\n", "Without an argument, says which is in force.\n"},
    {"launch", launch, "-n RANKS PROGRAM ARGUMENTS..: a program as several ranks, on MPI",
     "-n -H --ssh --restarts --all-output --elastic",
     "-n RANKS [-H HOST:SLOTS,..] [--ssh PROGRAM] [--restarts K] [--all-output] [--elastic] "
     "PROGRAM ARGUMENTS..\n",
     "-H            runs on these hosts, each with Horngate in the same folder; default: this "
     "host\n"
     "--ssh         program that reaches them, called as PROGRAM HOST COMMAND..; default ssh\n"
     "--restarts K  when a rank fails, starts the program again, up to K times (HORNGATE_RESTART "
     "counts)\n"
     "--all-output  shows what all ranks print; default: rank 0's, and the end of a failed "
     "rank's standard error\n"
     "--elastic     the ranks that are left may go on when one is lost\n",
     true},
    {"comm", comm, "install|remove openmpi|mpich: gets an MPI library, removes it",
     "install remove openmpi mpich", "install openmpi|mpich [--force]\nremove openmpi|mpich\n",
     "--force  installs even if it is there already\n"
     "Libraries go to HORNGATE_HOME/comm; HORNGATE_HOME is $HOME/.horngate if it is not set.\n"},
    {"profile", profile, "PROGRAM ARGUMENTS.. or TRACE.json: where the time goes, as a table",
     "--json --top -o",
     "[--json] [--top N] [-o TRACE.json] PROGRAM ARGUMENTS..\n"
     "[--json] [--top N] TRACE.json\n",
     "--json         JSON on standard output, for other programs; what PROGRAM prints goes to "
     "standard error\n"
     "--top N        the N rows that took longest; default 30; all with --json\n"
     "-o TRACE.json  keeps the trace; ui.perfetto.dev can show it\n",
     true},
    {"show", show,
     "MODEL.h5: the layers of a model that Keras or Horngate saved\nMODEL.h5 "
     "PICTURE.html|svg|png|dot: what its prediction computes, drawn",
     "--json", "MODEL.h5 [--json]\nMODEL.h5 PICTURE.html|svg|png|dot\n", kJson},
    {"check", check, "MODEL.h5: whether it can be loaded, and what it holds", "--json",
     "MODEL.h5 [--json]\n", kJson},
    {"completion", completion, "bash: prints the completion script, for eval in .bashrc", "bash",
     "bash\n", "In .bashrc: eval \"$(horngate completion bash)\"\n"},
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(const std::string& name) {
  for (const Command& c : kCommands)
    if (name == c.name) return &c;
  return nullptr;
}

std::string usage(const std::string& name) {
  const Command& c = *find_command(name);
  std::string text, start = "usage: ";
  for (const std::string& line : lines_of(c.usage)) {
    text += start + "horngate " + c.name + " " + line + "\n";
    start = "       ";
  }
  const std::vector<std::string> what = lines_of(c.help);
  for (const std::string& line : what) {  // one form is in the usage already
    const size_t at = line.find(": ");
    text += (what.size() > 1 || at == std::string::npos ? line : line.substr(at + 2)) + "\n";
  }
  for (const std::string& line : lines_of(c.details))
    text += (line.starts_with('-') ? "  " : "") + line + "\n";
  return text;
}

bool wants_help(const Command& command, const Arguments& arguments) {
  const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (command.runs_a_program) return !arguments.empty() && asks(arguments[0]);
  return std::any_of(arguments.begin(), arguments.end(), asks);
}

std::string usage() {
  std::string text = "usage: horngate COMMAND\n", with_json;
  const auto add = [&](std::string name, const std::string& help) {
    name.resize(12, ' ');
    for (const std::string& line : lines_of(help)) {
      text += "  " + name + line + "\n";
      name.assign(12, ' ');
    }
  };
  for (const Command& c : kCommands) {
    add(c.name, c.help);
    if (std::string_view(c.words).find("--json") != std::string_view::npos)
      with_json += (with_json.empty() ? "" : ", ") + std::string(c.name);
  }
  add("help", "this text; `horngate COMMAND --help` says more about a command");
  return text + "With --json, for other programs: " + with_json + ".\n";
}

}  // namespace horngate::cli
