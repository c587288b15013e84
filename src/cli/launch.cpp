// horngate launch: a program as several ranks, by mpirun. All of them end when one fails, when this command is
// interrupted, or when it is killed.
#include "launch.h"

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
#include <filesystem>
#include <set>
#include <utility>

#include "commands.h"
#include "horngate/error.h"
#include "reports.h"

namespace horngate::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kPatience = 700ms;   // for mpirun to end the ranks
constexpr auto kLastWords = 500ms;  // for what ranks have printed to come through mpirun
constexpr auto kLastReports = 10s;  // of ranks, once the first has ended well

/// mpirun in a process group of its own, which dies with this command. We read what it says on standard error.
class Child {
 public:
  explicit Child(const std::vector<std::string>& command) {
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    int ends[2];
    const pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0 || (pid_ = fork()) < 0)
      throw RuntimeError(std::string("horngate launch: cannot start a process: ") +
                         strerror(errno) + ".");
    if (pid_ == 0) {
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      if (getppid() != parent) _exit(1);
      dup2(ends[1], STDERR_FILENO);
      sigset_t none;
      sigemptyset(&none);
      sigprocmask(SIG_SETMASK, &none, nullptr);
      execv(argv[0], argv.data());
      std::fprintf(stderr, "horngate launch: cannot run \"%s\": %s.\n", argv[0], strerror(errno));
      _exit(127);
    }
    ::close(ends[1]);
    errors_ = ends[0];
    fcntl(errors_, F_SETFL, O_NONBLOCK);
  }
  ~Child() { ::close(errors_); }
  Child(const Child&) = delete;

  pid_t pid() const { return pid_; }
  int errors() const { return errors_; }

  /// Shows what mpirun says, and returns what the ranks report. Once nothing can follow, errors() is -1.
  std::vector<Report> read() {
    std::vector<Report> reports;
    char data[8192];
    ssize_t n = 0;
    while (errors_ >= 0 &&
           ((n = ::read(errors_, data, sizeof data)) > 0 || (n < 0 && errno == EINTR)))
      if (n > 0) show(reader_.take({data, static_cast<size_t>(n)}, reports));
    if (n == 0 && errors_ >= 0) {
      show(reader_.rest());
      ::close(std::exchange(errors_, -1));
    }
    return reports;
  }

 private:
  static void show(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }

  pid_t pid_ = -1;
  int errors_ = -1;
  ReportReader reader_;
};

/// The signals that concern a launch, as a file to wait for.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGUSR1, SIGUSR2}) sigaddset(&set, s);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Signals() { ::close(fd_); }
  Signals(const Signals&) = delete;

  /// The next signal; 0 if `other` can be read or `most` has passed before one comes.
  int wait(int other, std::chrono::milliseconds most) const {
    pollfd p[] = {{fd_, POLLIN, 0}, {other, POLLIN, 0}};
    signalfd_siginfo info{};
    poll(p, 2, static_cast<int>(most.count()));
    return ::read(fd_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  int fd_;
};

/// One run of the program, until mpirun has ended.
class Run {
 public:
  Run(const std::vector<std::string>& command, const LaunchOptions& options, const Signals& signals)
      : child_(command), options_(options), signals_(signals) {}

  struct Ending {
    int code = 0;
    bool is_interrupted = false;
  };
  Ending wait() {
    int status = 0;
    for (bool is_over = false; !is_over;) {
      const int caught = signals_.wait(child_.errors(), 100ms);
      is_over = waitpid(child_.pid(), &status, WNOHANG) == child_.pid();
      for (const Report& report : child_.read()) note(report);
      if (caught == SIGUSR1 || caught == SIGUSR2) {
        kill(child_.pid(), caught);  // which hands it on to the ranks
      } else if (caught != 0 && caught != SIGCHLD && interrupted_ == 0) {
        interrupted_ = caught;
        end();
      }
      if (!is_over && Clock::now() > end_at_) end();
      if (!is_over && Clock::now() > kill_at_) kill(-child_.pid(), SIGKILL);
    }
    for (const Report& report : child_.read()) note(report);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (interrupted_ != 0) return {128 + interrupted_, true};
    const bool is_well = well_ == options_.ranks || (options_.elastic && well_ > 0);
    if (is_well || has_failed_ || code != 0)
      return {is_well ? 0 : has_failed_ ? code_ : code, false};
    // If a rank ends without telling MPI, some mpiruns end the others and still report success.
    for (int r = 0; r < options_.ranks; ++r)
      if (!ended_.count(r))
        std::fprintf(
            stderr,
            "horngate launch: rank %d was killed before it could report how its program ended.\n",
            r);
    return {1, false};
  }

 private:
  void note(const Report& report) {
    if (report.is_well()) ++well_;
    ended_.insert(report.rank);
    // With --elastic ranks linger until mpirun ends them. One that ends well has met all others at the end, except
    // those lost with their host, which never report.
    if (options_.elastic && static_cast<int>(ended_.size()) == options_.ranks)
      end_at_ = std::min(end_at_, Clock::now() + kLastWords);
    if (options_.elastic && report.is_well() && report.was_open)
      end_at_ = std::min(end_at_, Clock::now() + kLastReports);
    if (report.is_well() || report.is_told || interrupted_ != 0) return;
    std::fprintf(stderr, "horngate launch: %s\n", report.text().c_str());
    if (!has_failed_) code_ = report.code();
    has_failed_ = true;
    if (!options_.elastic || !report.was_open) end();
  }

  /// Gives mpirun a moment to end the ranks; those that it leaves end by themselves once it is gone.
  void end() {
    if (kill_at_ != Clock::time_point::max()) return;
    kill_at_ = Clock::now() + kPatience;
    kill(child_.pid(), SIGTERM);
  }

  Child child_;
  const LaunchOptions& options_;
  const Signals& signals_;
  Clock::time_point end_at_ = Clock::time_point::max(), kill_at_ = Clock::time_point::max();
  int interrupted_ = 0;  // by which signal
  std::set<int> ended_;  // ranks that reported
  int well_ = 0;         // how many of them ended well
  bool has_failed_ = false;
  int code_ = 0;  // of the rank that failed first
};

}  // namespace

int launch(const Arguments& arguments) {
  const LaunchOptions options = read_launch_options(arguments);
  const Launcher launcher = find_launcher();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const Signals signals;
  for (int run = 0;; ++run) {
    setenv("HORNGATE_RESTART", std::to_string(run).c_str(), 1);
    unsetenv("HG_RANK_PID");  // if a rank launches others
    const Run::Ending ending =
        Run(launch_command(launcher, options, self), options, signals).wait();
    if (ending.is_interrupted || ending.code == 0 || run == options.restarts) return ending.code;
    std::fprintf(
        stderr,
        "horngate launch: the program ended with code %d; starting it again (start %d of %d).\n",
        ending.code, run + 2, options.restarts + 1);
  }
}

}  // namespace horngate::cli
