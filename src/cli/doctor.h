// What `horngate doctor` finds.
#pragma once

#include <string>
#include <vector>

namespace horngate::cli {

enum class State { ok, note, wrong };

struct Finding {
  State state;
  std::string what, text;
  std::string remedy = {};  // whole sentences
};
using Findings = std::vector<Finding>;

/// CPU, instructions, threads, memory.
void look_at_machine(Findings& findings);
/// Variables HORNGATE_* that mean nothing.
void look_at_environment(Findings& findings);
/// The Python beside this program: our module, NumPy, Keras.
void look_at_python(Findings& findings);

}  // namespace horngate::cli
