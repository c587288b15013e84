// Compiled bodies of loops and branches. Equal bodies share one executable: a loop with another number of steps
// compiles nothing new.
#pragma once

#include "engines/native/executable.h"

namespace horngate::native {

std::shared_ptr<Executable> compile_body(const Graph& body);
/// Executables made by compile_body since the start; for tests.
size_t bodies_compiled();

}  // namespace horngate::native
