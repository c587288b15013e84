// The communicator of the program.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>

#include "comm/communicator.h"
#include "ir/check.h"
#include "ir/environment.h"
#include "ir/fork.h"

namespace horngate::comm {
namespace {

ForkMutex world_mutex;  // held while ranks meet
// Never destroyed: threads of the program may outlive its statics.
std::shared_ptr<Communicator>& the_world() {
  static auto* w = new std::shared_ptr<Communicator>;
  return *w;
}

/// A process that a rank started has the launcher's variables too: it would take the rank's place.
void check_is_rank() {
  constexpr const char* kName = "HG_RANK_PID";
  const std::string own = std::to_string(::getpid()), first(environment_text(kName));
  check<RuntimeError>(first.empty() || first == own, "distributed",
                      "this process was started by a rank (process ", first,
                      ") and is not one itself.");
  ::setenv(kName, own.c_str(), 1);
}

void close_at_exit() {
  try {
    close_world();
  } catch (const std::exception&) {  // Ctrl-C: the program ends anyway
  }
}

/// Tells `horngate launch` that from now on this rank can be lost without all others waiting for it. HG_RANK_READY is
/// <number of a file>:<inode>, of a pipe; a process between us and the launcher may have closed it.
void tell_launcher() {
  unsigned long long inode = 0;
  int file = -1;
  struct stat is = {};
  const std::string text(environment_text("HG_RANK_READY"));
  if (std::sscanf(text.c_str(), "%d:%llu", &file, &inode) != 2 || ::fstat(file, &is) != 0) return;
  if (!S_ISFIFO(is.st_mode) || is.st_ino != inode) return;
  [[maybe_unused]] const auto written = ::write(file, "", 1);
}

}  // namespace

std::shared_ptr<Communicator> world() {
  const std::lock_guard lock(world_mutex);
  std::shared_ptr<Communicator>& w = the_world();
  if (w) return w;
  const Choice choice = choose_plugin();
  if (choice.name.empty()) return w = Communicator::alone();
  check_is_rank();
  w = Communicator::open(choice.name, options_of(choice.name),
                         Communicator::Settings::from_environment(), choice.origin);
  tell_launcher();
  static const int once = std::atexit(close_at_exit);
  (void)once;
  return w;
}

bool has_world() {
  const std::lock_guard lock(world_mutex);
  return static_cast<bool>(the_world());
}

void close_world() {
  // Once the first rank has ended, a launcher may end the others.
  std::fflush(nullptr);
  const auto now = [] {
    const std::lock_guard lock(world_mutex);
    return the_world();
  };
  const std::shared_ptr<Communicator> last = now();
  // A forked child keeps it: it must not open another one.
  if (!last || !last->is_here()) return;
  // It stays the world while it closes, for other threads.
  const auto forget = [&] {
    const std::lock_guard lock(world_mutex);
    if (the_world() == last) the_world().reset();
  };
  try {
    last->close();
  } catch (...) {
    forget();
    throw;
  }
  forget();
}

void set_world(std::shared_ptr<Communicator> now) {
  const std::lock_guard lock(world_mutex);
  the_world() = std::move(now);
}

}  // namespace horngate::comm
