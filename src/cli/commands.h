// Sub-commands of `horngate`: each takes its arguments and returns the exit code.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace horngate::cli {

using Arguments = std::vector<std::string>;

int bench(const Arguments& arguments);
int check(const Arguments& arguments);
int completion(const Arguments& arguments);
int doctor(const Arguments& arguments);
int engines(const Arguments& arguments);
int engines_list(const Arguments& arguments);
int export_model(const Arguments& arguments);
int info(const Arguments& arguments);
int launch(const Arguments& arguments);
int rank(const Arguments& arguments);
int comm(const Arguments& arguments);
int keras_editions(const Arguments& arguments);
int profile(const Arguments& arguments);
int show(const Arguments& arguments);

/// What help, usage and completion say about a command.
struct Command {
  const char* name;
  int (*run)(const Arguments& arguments);
  const char* help;             // in the list of commands; further lines are indented there
  const char* words;            // what may follow it, besides files
  const char* usage;            // its forms, a line each, without its name
  const char* details;          // lines about options, which begin with -, and whatever else
  bool runs_a_program = false;  // then --help is for us only as the first word
};
/// All of them, in the order of help.
std::span<const Command> commands();
/// Null if there is none of that name.
const Command* find_command(const std::string& name);
/// The list of commands.
std::string usage();
/// What a command's --help says, and its error when words are missing.
std::string usage(const std::string& name);
/// Whether -h or --help is among the words.
bool wants_help(const Command& command, const Arguments& arguments);

}  // namespace horngate::cli
