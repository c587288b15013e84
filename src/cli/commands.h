// Sub-commands of `horngate`: each takes its arguments and returns the exit code.
#pragma once

#include <string>
#include <vector>

namespace horngate::cli {

using Arguments = std::vector<std::string>;

int info(const Arguments& arguments);
int engines(const Arguments& arguments);
int engines_list(const Arguments& arguments);
int export_model(const Arguments& arguments);
int keras_editions(const Arguments& arguments);
int profile(const Arguments& arguments);
int show(const Arguments& arguments);
int check(const Arguments& arguments);

}  // namespace horngate::cli
