// The communicator of the program.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "comm/communicator.h"
#include "ir/environment.h"

namespace horngate::comm {
namespace {

std::mutex world_mutex;
// Never destroyed: threads of the program may outlive its statics.
std::shared_ptr<Communicator>& the_world() {
  static auto* w = new std::shared_ptr<Communicator>;
  return *w;
}

void close_world() {
  // Once the first rank has ended, a launcher may end the others.
  std::fflush(nullptr);
  std::shared_ptr<Communicator> last;
  {
    const std::lock_guard lock(world_mutex);
    last.swap(the_world());
  }
  if (last) last->close();
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
  w = Communicator::open(choice.name, options_of(choice.name),
                         Communicator::Settings::from_environment(), choice.origin);
  tell_launcher();
  static const int once = std::atexit(close_world);
  (void)once;
  return w;
}

void set_world(std::shared_ptr<Communicator> now) {
  const std::lock_guard lock(world_mutex);
  the_world() = std::move(now);
}

}  // namespace horngate::comm
