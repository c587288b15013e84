// Pictures that Graphviz draws, where it is installed.
#pragma once

#include <string>

namespace horngate::files {

/// What `dot -Tformat` writes when it is given the graph. RuntimeError, beginning with `who`, if it cannot be run.
std::string drawn_by_graphviz(const std::string& who, const std::string& dot,
                              const std::string& format);

}  // namespace horngate::files
