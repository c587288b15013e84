// horngate launch: a program as several ranks, by mpirun. All of them end when one fails, when this command is
// interrupted, or when it is killed.
#include "launch.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "commands.h"
#include "horngate/error.h"

namespace horngate::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr const char* kUsage =
    "usage: horngate launch -n RANKS [-H HOST:SLOTS,..] [--restarts K] [--all-output] [--elastic]\n"
    "                       PROGRAM ARGUMENTS..\n"
    "  -H            on these hosts, reached by ssh; without it on this one\n"
    "  --restarts K  when a rank fails, starts the program again, up to K times (HORNGATE_RESTART "
    "counts)\n"
    "  --all-output  shows what all ranks print; without it rank 0's, and the end of a rank that "
    "fails\n"
    "  --elastic     the ranks that are left may go on when one is lost\n";

constexpr auto kPatience = 700ms;  // for mpirun to end the ranks

int number_of(const std::string& option, const std::string& text, int least) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || value < least || value > 1000000)
    throw ValueError("horngate launch: " + option + " must be a number of at least " +
                     std::to_string(least) + "; got \"" + text + "\".");
  return static_cast<int>(value);
}

LaunchOptions read(const Arguments& words) {
  LaunchOptions out;
  size_t at = 0;
  const auto value = [&] {
    if (at + 1 >= words.size())
      throw ValueError("horngate launch: " + words[at] + " needs a value.\n" + kUsage);
    return words[++at];
  };
  for (; at < words.size() && words[at].size() > 1 && words[at][0] == '-'; ++at) {
    const std::string& word = words[at];
    if (word == "--") {
      ++at;
      break;
    }
    if (word == "-n")
      out.ranks = number_of(word, value(), 1);
    else if (word == "-H")
      out.hosts = value();
    else if (word == "--restarts")
      out.restarts = number_of(word, value(), 0);
    else if (word == "--all-output")
      out.all_output = true;
    else if (word == "--elastic")
      out.elastic = true;
    else
      throw ValueError("horngate launch: there is no option \"" + word + "\".\n" + kUsage);
  }
  out.program.assign(words.begin() + static_cast<ptrdiff_t>(at), words.end());
  if (out.ranks == 0 || out.program.empty()) throw ValueError(kUsage);
  return out;
}

/// mpirun in a process group of its own, which dies with this command.
pid_t start(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child < 0)
    throw RuntimeError(std::string("horngate launch: cannot start a process: ") + strerror(errno) +
                       ".");
  if (child > 0) return child;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(argv[0], argv.data());
  std::fprintf(stderr, "horngate launch: cannot run \"%s\": %s.\n", argv[0], strerror(errno));
  _exit(127);
}

/// The signals that end a launch, as a file to wait for.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, s);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~Signals() { ::close(fd_); }
  Signals(const Signals&) = delete;

  /// The next one, or 0 after so long.
  int wait(std::chrono::milliseconds most) const {
    pollfd p = {fd_, POLLIN, 0};
    signalfd_siginfo info{};
    if (poll(&p, 1, static_cast<int>(most.count())) <= 0) return 0;
    return read(fd_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  int fd_;
};

struct Ending {
  int code = 0;
  bool is_interrupted = false;
};

/// Waits for mpirun. When this command is told to end, mpirun gets a moment for ending the ranks; what it leaves ends
/// because it is gone.
Ending wait_for(pid_t child, const Signals& signals) {
  Ending out;
  Clock::time_point kill_at = Clock::time_point::max();
  for (;;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      out.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      return out;
    }
    const int caught = signals.wait(100ms);
    if (caught != 0 && caught != SIGCHLD && !out.is_interrupted) {
      out.is_interrupted = true;
      kill_at = Clock::now() + kPatience;
      kill(child, SIGTERM);
    }
    if (Clock::now() > kill_at) kill(-child, SIGKILL);
  }
}

}  // namespace

int launch(const Arguments& arguments) {
  const LaunchOptions options = read(arguments);
  const Launcher launcher = find_launcher();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::vector<std::string> command = launch_command(launcher, options, self);
  const Signals signals;
  for (int run = 0;; ++run) {
    setenv("HORNGATE_RESTART", std::to_string(run).c_str(), 1);
    const Ending ending = wait_for(start(command), signals);
    if (ending.is_interrupted) return 130;
    if (ending.code == 0 || run == options.restarts) return ending.code;
    std::fprintf(stderr, "horngate launch: the program ended with code %d; start %d of %d.\n",
                 ending.code, run + 2, options.restarts + 1);
  }
}

}  // namespace horngate::cli
