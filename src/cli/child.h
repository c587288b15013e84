// Running other programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace horngate::cli {

/// Sets an environment variable while it lives.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::string& value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const std::string name_;
  std::optional<std::string> before_;
};

/// Runs a program, found through PATH, with its arguments and returns its exit code. Meanwhile signals are for
/// the program. Throws std::system_error if it cannot be started. `to_stderr`: what it prints goes to standard error.
int run_child(std::vector<std::string> command, bool to_stderr = false);

struct Output {
  int code = 127;    // also if it could not be started
  std::string text;  // of its standard output
};
/// Runs a program and returns what it wrote; standard error is dropped. For short questions.
Output output_of(std::vector<std::string> command);

}  // namespace horngate::cli
