// Pictures by Graphviz.
#include "files/graphviz.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "horngate/error.h"

extern char** environ;

namespace horngate::files {
namespace {

[[noreturn]] void fail(const std::string& who, const std::string& what) {
  throw RuntimeError(who + ": " + what);
}

/// An open file that is closed at the end.
struct File {
  explicit File(int fd) : fd(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }
  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  int fd;
};

}  // namespace

std::string drawn_by_graphviz(const std::string& who, const std::string& dot,
                              const std::string& format) {
  const File in(::memfd_create("graph.dot", MFD_CLOEXEC));
  if (in.fd < 0 || ::pwrite(in.fd, dot.data(), dot.size(), 0) != static_cast<ssize_t>(dot.size()))
    fail(who, std::string("no memory for the graph (") + std::strerror(errno) + ").");
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(who, std::strerror(errno));
  File from(ends[0]), to(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.fd, 0);
  posix_spawn_file_actions_adddup2(&actions, to.fd, 1);
  std::string program = "dot", option = "-T" + format;
  const std::array<char*, 3> words = {program.data(), option.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, "dot", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    fail(who, "pictures are drawn by Graphviz, and its program \"dot\" cannot be run (" +
                  std::string(std::strerror(error)) + "). Write a .dot file instead.");
  to.close();
  std::string picture;
  std::array<char, 65536> piece;
  for (ssize_t n; (n = ::read(from.fd, piece.data(), piece.size())) != 0;) {
    if (n > 0) picture.append(piece.data(), static_cast<size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || picture.empty())
    fail(who, "\"dot -T" + format + "\" failed.");
  return picture;
}

}  // namespace horngate::files
