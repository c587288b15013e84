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

/// What help and completion say about a command.
struct Command {
  const char* name;
  int (*run)(const Arguments& arguments);
  const char* help;   // after the name; further lines are indented by help
  const char* words;  // what may follow it, besides files
};
/// All of them, in the order of help.
std::span<const Command> commands();

}  // namespace horngate::cli
