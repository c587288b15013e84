// What the command leaves to Python: which one, and running it.
#include "python.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace horngate::cli {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string find_python() {
  if (const char* set = std::getenv("HORNGATE_PYTHON"); set && *set) return set;
  const fs::path here = program_folder();
  const bool is_build = is_there(here / ".." / "python" / "horngate" / "__init__.py");
  const fs::path clone = here / ".." / ".." / ".venv" / "bin" / "python";
  if (is_build && is_there(clone)) return clone.lexically_normal().string();
  const fs::path beside = here / "python3";
  return is_there(beside) ? beside.string() : "python3";
}

/// The module of the build tree, for whatever Python it is.
void use_build_tree() {
  const fs::path module = (program_folder() / ".." / "python").lexically_normal();
  if (!is_there(module / "horngate" / "__init__.py")) return;
  const char* set = std::getenv("PYTHONPATH");
  const std::string path = module.string() + (set && *set ? std::string(":") + set : "");
  setenv("PYTHONPATH", path.c_str(), 1);
}

}  // namespace

fs::path program_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path(".") : self.parent_path();
}

int run_python(const std::string& who, const std::vector<std::string>& words) {
  std::string python = find_python();
  std::vector<std::string> all = {python};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& w : all) argv.push_back(w.data());
  argv.push_back(nullptr);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    use_build_tree();
    execvp(argv[0], argv.data());
    std::fprintf(stderr, "%s: \"%s\" cannot be run: %s. Set HORNGATE_PYTHON.\n", who.c_str(),
                 python.c_str(), std::strerror(errno));
    _exit(1);
  }
  if (child < 0) {
    std::fprintf(stderr, "%s: no process can be made: %s.\n", who.c_str(), std::strerror(errno));
    return 1;
  }
  // Ctrl-C reaches both; Python says what became of it.
  signal(SIGINT, SIG_IGN);
  static pid_t to;
  to = child;
  for (const int number : {SIGTERM, SIGHUP}) signal(number, [](int caught) { kill(to, caught); });
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  signal(SIGINT, SIG_DFL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace horngate::cli
