// Starts programs and waits for them, passing signals on.
#include "child.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace horngate::cli {

ScopedVariable::ScopedVariable(std::string name, const std::string& value)
    : name_(std::move(name)) {
  if (const char* set = std::getenv(name_.c_str())) before_ = set;
  setenv(name_.c_str(), value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  if (before_)
    setenv(name_.c_str(), before_->c_str(), 1);
  else
    unsetenv(name_.c_str());
}

int run_child(std::vector<std::string> command) {
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::fflush(stdout);
  static pid_t child;
  if (const int wrong = posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ))
    throw std::system_error(wrong, std::generic_category());
  // Ctrl-C reaches both; the program reports what became of it.
  signal(SIGINT, SIG_IGN);
  for (const int number : {SIGTERM, SIGHUP})
    signal(number, [](int caught) { kill(child, caught); });
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace horngate::cli
