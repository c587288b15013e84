// Ranks that are threads of one process: for tests, the thread sanitizer and faults on purpose. Options: group (a name),
// rank, ranks; at which operation the rank fails (fail_at) or falls silent (silent_at); delay, in microseconds, at most,
// before each operation.
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../common/status.h"

namespace horngate::comm {
namespace {

/// What a rank sends: the receiver copies it and counts down.
struct Letter {
  uint64_t number, key;  // of the operation
  const void* data;
  uint64_t bytes;
  int* open;  // parts of the sender's operation that are not done
};

struct World {
  explicit World(int ranks) : ranks(ranks), boxes(static_cast<size_t>(ranks * ranks)) {}
  std::vector<Letter>& box(int from, int to) {
    return boxes[static_cast<size_t>(from * ranks + to)];
  }

  std::mutex mutex;
  std::condition_variable changed;
  const int ranks;
  std::vector<std::vector<Letter>> boxes;
  std::map<std::string, std::weak_ptr<World>> shrunk;
};

struct Request {
  uint64_t number = 0, key = 0;
  std::vector<hg_comm_part> recv;  // bytes 0: done
  int open = 0;                    // parts that are not sent
  bool is_silent = false;
  void* owner = nullptr;
  void (*release)(void*) = nullptr;
};

struct Group {
  std::shared_ptr<World> world;
  int rank = 0;
  uint64_t operations = 0, fail_at = 0, silent_at = 0, shrinks = 0;
  int delay = 0;
  bool is_aborted = false;  // under the world's lock
  std::mt19937 random{1};
};

Group* group_of(void* self) { return static_cast<Group*>(self); }

std::mutex worlds_mutex;
std::map<std::string, std::weak_ptr<World>>& worlds() {
  static auto* w = new std::map<std::string, std::weak_ptr<World>>;
  return *w;
}

std::shared_ptr<World> find(std::map<std::string, std::weak_ptr<World>>& in, const std::string& key,
                            int ranks) {
  std::shared_ptr<World> world = in[key].lock();
  if (!world) in[key] = world = std::make_shared<World>(ranks);
  return world;
}

int open(const hg_comm_open* how, const hg_comm_patience*, void** self, hg_comm_status* status) {
  const auto number = [&](std::string_view name, long otherwise) {
    const std::string text(option(how, name));
    return text.empty() ? otherwise : std::atol(text.c_str());
  };
  const long rank = number("rank", -1), ranks = number("ranks", 0);
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return fail(status, HG_VALUE_ERROR, "the options rank and ranks must be numbers that fit.");
  auto group = std::make_unique<Group>();
  group->rank = static_cast<int>(rank);
  group->fail_at = static_cast<uint64_t>(number("fail_at", 0));
  group->silent_at = static_cast<uint64_t>(number("silent_at", 0));
  group->delay = static_cast<int>(number("delay", 0));
  group->random.seed(static_cast<uint32_t>(rank));
  const std::lock_guard lock(worlds_mutex);
  group->world = find(worlds(), std::string(option(how, "group")), static_cast<int>(ranks));
  *self = group.release();
  return 0;
}

void info(void* self, hg_comm_info* out) {
  out->rank = group_of(self)->rank;
  out->ranks = group_of(self)->world->ranks;
  out->caps = HG_COMM_CAP_SHRINK;
}

int start(void* self, const hg_comm_op* op, void** out, hg_comm_status* status) {
  Group& g = *group_of(self);
  World& w = *g.world;
  ++g.operations;
  if (g.delay > 0)
    std::this_thread::sleep_for(
        std::chrono::microseconds(g.random() % static_cast<uint32_t>(g.delay)));
  if (g.operations == g.fail_at) {
    if (op->release) op->release(op->owner);
    return fail(status, HG_RUNTIME_ERROR, "failed on purpose");
  }
  auto request = std::make_unique<Request>();
  request->number = g.operations;
  request->key = op->key;
  request->is_silent = g.silent_at > 0 && g.operations >= g.silent_at;
  request->owner = op->owner;
  request->release = op->release;
  request->recv.assign(op->recv, op->recv + w.ranks);
  request->recv[static_cast<size_t>(g.rank)].bytes = 0;
  {
    const std::lock_guard lock(w.mutex);
    for (int r = 0; r < w.ranks && !request->is_silent && !g.is_aborted; ++r) {
      if (r == g.rank || op->send[r].bytes == 0) continue;
      ++request->open;
      w.box(g.rank, r).push_back(
          {g.operations, op->key, op->send[r].data, op->send[r].bytes, &request->open});
    }
  }
  w.changed.notify_all();
  *out = request.release();
  return 0;
}

/// Takes what has come; true if nothing is left to come or to go. Under the lock.
bool advance(Group& g, Request& request) {
  World& w = *g.world;
  bool is_done = !request.is_silent;
  for (int r = 0; r < w.ranks && !request.is_silent; ++r) {
    hg_comm_part& part = request.recv[static_cast<size_t>(r)];
    if (part.bytes == 0) continue;
    std::vector<Letter>& box = w.box(r, g.rank);
    const auto letter = std::find_if(box.begin(), box.end(), [&](const Letter& l) {
      return l.number == request.number && l.key == request.key && l.bytes == part.bytes;
    });
    if (letter == box.end()) {
      is_done = false;
      continue;
    }
    if (part.bytes > 0) std::memcpy(part.data, letter->data, part.bytes);
    --*letter->open;
    box.erase(letter);
    part.bytes = 0;
    w.changed.notify_all();
  }
  return is_done && request.open == 0;
}

void drop(Group& g, Request* request) {
  World& w = *g.world;
  for (int r = 0; r < w.ranks; ++r)
    std::erase_if(w.box(g.rank, r), [&](const Letter& l) { return l.open == &request->open; });
  if (request->release) request->release(request->owner);
  delete request;
}

int end(Group& g, Request* request, int32_t code, hg_comm_status* status) {
  drop(g, request);
  if (code == 0) return 0;
  return fail(status, code, code == HG_COMM_ABORTED ? "aborted" : "given up");
}

int wait(void* self, void* which, const hg_comm_patience* patience, hg_comm_status* status) {
  Group& g = *group_of(self);
  auto* const request = static_cast<Request*>(which);
  const Limit limit(patience);
  std::unique_lock lock(g.world->mutex);
  for (;;) {
    if (advance(g, *request)) return end(g, request, 0, status);
    if (g.is_aborted) return end(g, request, HG_COMM_ABORTED, status);
    lock.unlock();  // the host may take locks of its own
    const int32_t code = limit.reached();
    lock.lock();
    if (code != 0) return end(g, request, code, status);
    g.world->changed.wait_for(lock, std::chrono::milliseconds(1));
  }
}

int test(void* self, void* which, int* done, hg_comm_status* status) {
  Group& g = *group_of(self);
  auto* const request = static_cast<Request*>(which);
  const std::lock_guard lock(g.world->mutex);
  *done = advance(g, *request);
  if (*done) return end(g, request, 0, status);
  return g.is_aborted ? end(g, request, HG_COMM_ABORTED, status) : 0;
}

void abort(void* self) {
  Group& g = *group_of(self);
  const std::lock_guard lock(g.world->mutex);
  g.is_aborted = true;
  g.world->changed.notify_all();
}

int shrink(void* self, uint32_t n, const int32_t* ranks, void** out, hg_comm_status*) {
  Group& g = *group_of(self);
  auto group = std::make_unique<Group>();
  std::string key = std::to_string(++g.shrinks) + ": ";
  for (uint32_t i = 0; i < n; ++i) {
    key += std::to_string(ranks[i]) + " ";
    if (ranks[i] == g.rank) group->rank = static_cast<int>(i);
  }
  const std::lock_guard lock(g.world->mutex);
  group->world = find(g.world->shrunk, key, static_cast<int>(n));
  *out = group.release();
  return 0;
}

void close(void* self, int) { delete group_of(self); }

const hg_comm_api api = [] {
  hg_comm_api a = {};
  a.abi = HG_COMM_ABI;
  a.size = sizeof a;
  a.name = "threads";
  a.version = "1";
  a.open = open;
  a.info = info;
  a.start = start;
  a.wait = wait;
  a.test = test;
  a.abort = abort;
  a.shrink = shrink;
  a.close = close;
  return a;
}();

}  // namespace
}  // namespace horngate::comm

extern "C" HG_ENGINE_EXPORT const hg_comm_api* hg_comm_main(uint32_t host_abi) {
  return host_abi == HG_COMM_ABI ? &horngate::comm::api : nullptr;
}
