// horngate rank: what mpirun starts on each host, `horngate launch` tells it so. Runs one rank of the program: divides the
// processors, shows or keeps what it prints, and sees to it that nothing of it is left.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "commands.h"
#include "horngate/cpus.h"
#include "horngate/error.h"

namespace horngate::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr size_t kKept = 16384;    // bytes of a quiet rank's errors
constexpr auto kPatience = 400ms;  // for the program to end by itself

int number_in(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* name : variables)
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return otherwise;
}

/// This host's processors, divided among its ranks, unless the user has said otherwise.
void divide_threads() {
  const int local = number_in({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, 1);
  const int here = cpu_limits().threads;
  setenv("HORNGATE_NUM_THREADS", std::to_string(std::max(1, here / std::max(1, local))).c_str(), 0);
}

/// A stream of the program: shown with the rank in front of each line, or kept.
class Stream {
 public:
  Stream(FILE* to, int rank, bool is_shown, bool has_prefix)
      : to_(to), rank_(rank), is_shown_(is_shown), has_prefix_(has_prefix) {
    if (pipe2(ends_, O_CLOEXEC) != 0) throw RuntimeError("horngate rank: no pipe.");
  }
  int inner() const { return ends_[1]; }
  int fd() const { return ends_[0]; }
  void begin() {
    ::close(ends_[1]);
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  /// Takes what there is; false at the end.
  bool take() {
    char data[8192];
    for (;;) {
      const ssize_t n = ::read(ends_[0], data, sizeof data);
      if (n == 0) return false;
      if (n < 0) return errno == EAGAIN || errno == EINTR;
      if (!has_prefix_ && is_shown_) {
        std::fwrite(data, 1, static_cast<size_t>(n), to_);
        std::fflush(to_);
        continue;
      }
      text_.append(data, static_cast<size_t>(n));
      if (is_shown_)
        show_lines();
      else if (text_.size() > 2 * kKept)
        text_.erase(0, text_.size() - kKept);
    }
  }
  /// What is left of a line; of a rank that failed, also what was kept.
  void end(bool has_failed) {
    if (!is_shown_ && !has_failed) return;
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    if (is_shown_ && !has_prefix_) return;
    show_lines();
  }

 private:
  void show_lines() {
    const std::string prefix = "[" + std::to_string(rank_) + "] ";
    std::string out;
    size_t at = 0;
    for (size_t end; (end = text_.find('\n', at)) != std::string::npos; at = end + 1)
      out += prefix + text_.substr(at, end + 1 - at);
    text_.erase(0, at);
    // At once, so that lines of different ranks do not mix.
    std::fwrite(out.data(), 1, out.size(), to_);
    std::fflush(to_);
  }

  FILE* const to_;
  const int rank_;
  const bool is_shown_, has_prefix_;
  int ends_[2];
  std::string text_;
};

pid_t start(const Arguments& program, const Stream& out, const Stream& err) {
  const pid_t parent = getpid(), child = fork();
  if (child != 0) return child;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  dup2(out.inner(), STDOUT_FILENO);
  dup2(err.inner(), STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::vector<char*> argv;
  for (const std::string& word : program) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  std::fprintf(stderr, "horngate launch: cannot run \"%s\": %s.\n", argv[0], strerror(errno));
  _exit(127);
}

/// Until the program ends. Whoever started us being gone, or a signal, ends it: first like Ctrl-C, then for good.
int watch(pid_t child, Stream& out, Stream& err, int signals) {
  const pid_t parent = getppid();
  Clock::time_point kill_at = Clock::time_point::max();
  int status = 0;
  bool has_out = true, has_err = true;
  for (bool is_over = false; !is_over;) {
    pollfd fds[] = {{signals, POLLIN, 0},
                    {has_out ? out.fd() : -1, POLLIN, 0},
                    {has_err ? err.fd() : -1, POLLIN, 0}};
    poll(fds, 3, 100);
    signalfd_siginfo info{};
    bool ends = getppid() != parent;
    while (read(signals, &info, sizeof info) == sizeof info)
      ends = ends || info.ssi_signo != SIGCHLD;
    if (ends && kill_at == Clock::time_point::max()) {
      kill_at = Clock::now() + kPatience;
      kill(-child, SIGINT);
    }
    if (Clock::now() > kill_at) kill(-child, SIGKILL);
    is_over = waitpid(child, &status, WNOHANG) == child;
    has_out = has_out && out.take();
    has_err = has_err && err.take();
  }
  kill(-child, SIGKILL);  // what it started
  return status;
}

}  // namespace

int rank(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes + 1 == arguments.end())
    throw ValueError("horngate rank: is started by `horngate launch`.");
  const bool all = std::find(arguments.begin(), dashes, "--all-output") != dashes;
  const int number = number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  divide_threads();
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, s);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  Stream out(stdout, number, all || number == 0, all), err(stderr, number, all || number == 0, all);
  const pid_t child = start({dashes + 1, arguments.end()}, out, err);
  out.begin();
  err.begin();
  const int status = watch(child, out, err, signals);
  out.take();
  err.take();
  const bool has_failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  out.end(false);
  err.end(has_failed);
  if (has_failed) {
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    const std::string how = WIFEXITED(status)
                                ? "with code " + std::to_string(WEXITSTATUS(status))
                                : std::string("by a signal: ") + strsignal(WTERMSIG(status));
    std::fprintf(stderr, "horngate launch: rank %d (host %s) ended %s.\n", number, host,
                 how.c_str());
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace horngate::cli
