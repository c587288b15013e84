// The communicator of the program.
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "comm/communicator.h"

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

}  // namespace

std::shared_ptr<Communicator> world() {
  const std::lock_guard lock(world_mutex);
  std::shared_ptr<Communicator>& w = the_world();
  if (w) return w;
  const Choice choice = choose_plugin();
  if (choice.name.empty()) return w = Communicator::alone();
  w = Communicator::open(choice.name, options_of(choice.name),
                         Communicator::Settings::from_environment(), choice.origin);
  static const int once = std::atexit(close_world);
  (void)once;
  return w;
}

void set_world(std::shared_ptr<Communicator> now) {
  const std::lock_guard lock(world_mutex);
  the_world() = std::move(now);
}

}  // namespace horngate::comm
