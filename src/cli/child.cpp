// Starts programs and waits for them, passing signals on.
#include "child.h"

#include <fcntl.h>
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

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

int exit_code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_child(std::vector<std::string> command, bool to_stderr) {
  std::vector<char*> argv = pointers_to(command);
  std::fflush(stdout);
  static pid_t child;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (to_stderr) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const int wrong = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (wrong) throw std::system_error(wrong, std::generic_category());
  // Ctrl-C reaches the program too: ignore it here, and return how the program ended.
  signal(SIGINT, SIG_IGN);
  for (const int number : {SIGTERM, SIGHUP})
    signal(number, [](int caught) { kill(child, caught); });
  const int code = exit_code_of(child);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
  return code;
}

Output output_of(std::vector<std::string> command) {
  Output out;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return out;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv = pointers_to(command);
  pid_t child = 0;
  const int wrong = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char part[4096];
  for (ssize_t n = 0;
       !wrong && ((n = read(ends[0], part, sizeof part)) > 0 || (n < 0 && errno == EINTR));)
    if (n > 0) out.text.append(part, static_cast<size_t>(n));
  close(ends[0]);
  if (!wrong) out.code = exit_code_of(child);
  return out;
}

}  // namespace horngate::cli
