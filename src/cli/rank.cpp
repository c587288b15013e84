// horngate rank: what `horngate launch` has mpirun start on each host. Runs one rank of the program: divides the
// processors, shows or keeps what the program prints, and leaves none of its processes behind.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
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
#include "reports.h"

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
    if (pipe2(ends_, O_CLOEXEC) != 0) throw RuntimeError("horngate rank: cannot make a pipe.");
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

/// A pipe on which the program says that it has met the other ranks.
class Ready {
 public:
  Ready() {
    struct stat is = {};
    if (pipe2(ends_, O_NONBLOCK) != 0 || fstat(ends_[1], &is) != 0)
      throw RuntimeError("horngate rank: cannot make a pipe.");
    fcntl(ends_[0], F_SETFD, FD_CLOEXEC);
    setenv("HG_RANK_READY", (std::to_string(ends_[1]) + ":" + std::to_string(is.st_ino)).c_str(),
           1);
  }
  bool is_said() const {
    char byte = 0;
    return ::read(ends_[0], &byte, 1) == 1;
  }

 private:
  int ends_[2];
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

/// Waits until the program ends. If a signal comes, or whoever started us is gone, ends it: first like Ctrl-C, then for
/// good. SIGUSR1 and SIGUSR2 go to the program, unless the launcher has a use of its own for them.
Report watch(pid_t child, Stream& out, Stream& err, int signals, bool passes_users) {
  const pid_t parent = getppid();
  Report report;
  Clock::time_point kill_at = Clock::time_point::max();
  bool has_out = true, has_err = true;
  for (bool is_over = false; !is_over;) {
    pollfd fds[] = {{signals, POLLIN, 0},
                    {has_out ? out.fd() : -1, POLLIN, 0},
                    {has_err ? err.fd() : -1, POLLIN, 0}};
    poll(fds, 3, 100);
    signalfd_siginfo info{};
    bool ends = getppid() != parent;
    while (read(signals, &info, sizeof info) == sizeof info) {
      const int caught = static_cast<int>(info.ssi_signo);
      const bool is_users = caught == SIGUSR1 || caught == SIGUSR2;
      if (is_users && passes_users) kill(child, caught);
      ends = ends || (caught != SIGCHLD && !is_users);
    }
    if (ends && kill_at == Clock::time_point::max()) {
      report.is_told = true;
      kill_at = Clock::now() + kPatience;
      kill(-child, SIGINT);
    }
    if (Clock::now() > kill_at) kill(-child, SIGKILL);
    is_over = waitpid(child, &report.status, WNOHANG) == child;
    has_out = has_out && out.take();
    has_err = has_err && err.take();
  }
  kill(-child, SIGKILL);  // what it started
  return report;
}

/// Waits until whoever started us sends a signal to end, or is gone.
void linger(int signals, pid_t parent) {
  for (signalfd_siginfo info{}; getppid() == parent;) {
    pollfd fd = {signals, POLLIN, 0};
    poll(&fd, 1, 100);
    while (read(signals, &info, sizeof info) == sizeof info)
      if (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) return;
  }
}

}  // namespace

int rank(const Arguments& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes + 1 == arguments.end())
    throw ValueError("horngate rank: only `horngate launch` can start this.");
  const auto has = [&](const char* word) {
    return std::find(arguments.begin(), dashes, word) != dashes;
  };
  const bool all = has("--all-output"), elastic = has("--elastic");
  const int number = number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0);
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  divide_threads();
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2}) sigaddset(&set, s);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  Stream out(stdout, number, all || number == 0, all), err(stderr, number, all || number == 0, all);
  const Ready ready;
  const pid_t child = start({dashes + 1, arguments.end()}, out, err);
  out.begin();
  err.begin();
  // MPICH's mpirun tells survivors by SIGUSR1 that a rank was lost. They learn it from comm/watch, so drop the signal.
  const bool passes_users = !elastic || std::getenv("OMPI_COMM_WORLD_RANK");
  Report report = watch(child, out, err, signals, passes_users);
  report.rank = number;
  report.was_open = ready.is_said();
  out.take();
  err.take();
  out.end(false);
  err.end(!report.is_well() && !report.is_told);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  report.host = host;
  const std::string text = packed(report);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  // mpiruns differ in when the end of one rank ends all. So stay until `launch`, which knows who has ended, says so.
  if (elastic && !report.is_told) linger(signals, parent);
  return report.code();
}

}  // namespace horngate::cli
