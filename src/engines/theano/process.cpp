// The worker process: started, watched, talked to over one socket, never left behind.
#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>
#include <thread>

extern char** environ;

namespace horngate::theano {

/// Shared with a thread that waits for the process to end, so that there is never a zombie.
struct Process::Watch {
  pid_t pid = 0;
  mutable std::mutex mutex;
  mutable std::condition_variable ended;
  bool dead = false;
  int status = -1;  // -1: somebody else collected it
};

namespace {

constexpr int kSocketInWorker = 3;
constexpr size_t kLongestMessage = 1 << 16;
constexpr std::chrono::milliseconds kPatience{50};
// Timers are up to 50 us late.
constexpr std::chrono::microseconds kEarly{80}, kLate{40};

/// Moves a descriptor above those that the worker uses itself; closed by exec.
int moved_up(int fd) {
  const int up = fcntl(fd, F_DUPFD_CLOEXEC, 10);
  close(fd);
  return up;
}

/// Starts the program with the socket as descriptor 3, in its own session, so that Ctrl-C at the terminal reaches
/// only the caller.
int spawn(const Installation& where, int socket, int log, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log, 1);
  posix_spawn_file_actions_adddup2(&actions, log, 2);
  posix_spawn_file_actions_adddup2(&actions, socket, kSocketInWorker);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string python = where.python.string(), worker = where.worker.string(),
              cache = where.cache.string(), isolated = "-I", parent = std::to_string(getpid());
  char* const arguments[] = {python.data(), isolated.data(), worker.data(),
                             cache.data(),  parent.data(),   nullptr};
  const int error = posix_spawn(pid, python.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

std::unique_ptr<Process> Process::start(const Installation& where, std::string& why) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    why = std::string("cannot make a socket for the worker: ") + std::strerror(errno) + ".";
    return nullptr;
  }
  std::unique_ptr<Process> p(new Process);
  p->socket_ = moved_up(pair[0]);
  const int other = moved_up(pair[1]);
  p->log_ = moved_up(memfd_create("horngate-theano-log", MFD_CLOEXEC));
  const timeval patience{0, std::chrono::microseconds(kPatience).count()};
  setsockopt(p->socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  auto watch = std::make_shared<Watch>();
  const int error = spawn(where, other, p->log_, &watch->pid);
  close(other);
  if (error != 0) {
    why = where.python.string() + " cannot be started: " + std::strerror(error) + ".";
    return nullptr;
  }
  p->watch_ = watch;
  std::thread([watch] {
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(watch->pid), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    // After this the pid may go to another process, so nobody signals it from here on.
    const std::lock_guard lock(watch->mutex);
    int status = -1;
    if (waitpid(watch->pid, &status, 0) == watch->pid) watch->status = status;
    watch->dead = true;
    watch->ended.notify_all();
  }).detach();
  return p;
}

Process::~Process() {
  if (watch_) signal(SIGKILL);
  if (socket_ >= 0) close(socket_);
  if (log_ >= 0) close(log_);
}

void Process::abandon() {
  watch_.reset();
  if (socket_ >= 0) close(socket_);
  if (log_ >= 0) close(log_);
  socket_ = log_ = -1;
}

bool Process::is_dead() const {
  const std::lock_guard lock(watch_->mutex);
  return watch_->dead;
}

void Process::signal(int number) {
  const std::lock_guard lock(watch_->mutex);
  if (!watch_->dead) kill(watch_->pid, number);
}

std::string Process::how_it_ended() const {
  std::unique_lock lock(watch_->mutex);
  watch_->ended.wait_for(lock, std::chrono::seconds(2), [&] { return watch_->dead; });
  const int status = watch_->status;
  std::string text = "ended";
  if (status != -1 && WIFSIGNALED(status))
    text = "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
           strsignal(WTERMSIG(status)) + ")";
  else if (status != -1 && WIFEXITED(status))
    text = "ended with code " + std::to_string(WEXITSTATUS(status));
  // The last line that it wrote often says why.
  char tail[400];
  const off_t size = lseek(log_, 0, SEEK_END);
  const off_t from = size > static_cast<off_t>(sizeof tail) ? size - off_t{sizeof tail} : 0;
  const ssize_t n = size > 0 ? pread(log_, tail, sizeof tail, from) : 0;
  std::string last(tail, n > 0 ? static_cast<size_t>(n) : 0);
  while (!last.empty() && last.back() == '\n') last.pop_back();
  if (const size_t line = last.rfind('\n'); line != std::string::npos) last.erase(0, line + 1);
  return last.empty() ? text : text + ", saying: " + last;
}

bool Process::send(const void* data, size_t size, const int* fds, int n_fd) {
  iovec part{const_cast<void*>(data), size};
  alignas(cmsghdr) char space[CMSG_SPACE(4 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (n_fd > 0) {
    message.msg_control = space;
    message.msg_controllen = CMSG_SPACE(static_cast<size_t>(n_fd) * sizeof(int));
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(static_cast<size_t>(n_fd) * sizeof(int));
    std::memcpy(CMSG_DATA(head), fds, static_cast<size_t>(n_fd) * sizeof(int));
  }
  for (;;) {
    if (sendmsg(socket_, &message, MSG_NOSIGNAL) >= 0) return true;
    if (errno != EINTR) return false;
  }
}

/// Like recv, but without waiting to be woken: sleeps until shortly before the message is expected, then polls until
/// shortly after.
ssize_t Process::look(char* buffer, std::chrono::nanoseconds expected) {
  if (expected > kEarly) {
    const timespec sleep{0, (expected - kEarly).count()};
    pollfd here{socket_, POLLIN, 0};
    ppoll(&here, 1, &sleep, nullptr);  // a signal may end it too
  }
  const auto end = std::chrono::steady_clock::now() + kEarly + kLate;
  ssize_t n;
  do n = recv(socket_, buffer, kLongestMessage, MSG_DONTWAIT);
  while (n < 0 && errno == EAGAIN && std::chrono::steady_clock::now() < end);
  return n;
}

Process::Got Process::receive(std::string& message, std::chrono::nanoseconds expected) {
  char buffer[kLongestMessage];
  ssize_t n = -1;
  errno = EAGAIN;
  if (expected.count() > 0 && expected < kPatience) n = look(buffer, expected);
  if (n < 0 && errno == EAGAIN) n = recv(socket_, buffer, sizeof buffer, 0);
  if (n > 0) {
    message.assign(buffer, static_cast<size_t>(n));
    return Got::message;
  }
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return Got::nothing_yet;
  return Got::end;
}

}  // namespace horngate::theano
