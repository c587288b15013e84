// Processes that an MPI launcher started. Everything but all_reduce in the library's own order is sent from rank to
// rank, and waiting is asking again and again: so that it can end at a deadline, and so that the ranks that are left
// after a fault can go on, whichever library it is.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "library.h"

namespace horngate::comm::mpi {
namespace {

using Clock = Limit::Clock;
using namespace std::chrono_literals;

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of one message; MPI counts with an int
constexpr auto kSpin = 30us,
               kYield = 300us;  // since the last message; then it sleeps between questions
constexpr auto kShort = 30us, kLong = 500us;  // how long it sleeps: more the longer nothing comes

constexpr int kEpochBits = 3, kOperationBits = 6;

struct Message {
  Handle request;
  int peer;
  bool is_in;
  int bytes = 0;  // of one that comes
};

struct Request {
  std::vector<Message> open;
  void* owner = nullptr;
  void (*release)(void*) = nullptr;

  void end() {
    if (release) release(owner);
    release = nullptr;
  }
};

struct Group {
  const Library* m = nullptr;
  Handle comm = 0;
  std::vector<int> places;  // in `comm`, by rank
  int rank = 0;
  int key_bits = 0;  // of a tag, for the key
  uint64_t epoch = 0, operations = 0;
  uint64_t shrinks = 0;  // tries; what one left under way must not come to the next
  std::atomic<bool> is_aborted{false};
  // Given up, but perhaps still written to.
  std::list<std::unique_ptr<Request>> abandoned;

  int ranks() const { return static_cast<int>(places.size()); }
};

Group* group_of(void* self) { return static_cast<Group*>(self); }
bool did_init = false;  // MPI, by us
hg_comm_api api = {};

constexpr int kOtherSize =
    -1;  // in place of a code of MPI: a message had another size than was expected

int fail_mpi(const Library& m, int code, const char* what, int rank, hg_comm_status* status) {
  if (code == kOtherSize)
    return fail(status, HG_RUNTIME_ERROR, "a message has another size than was expected.");
  return fail(status, rank < 0 ? int32_t{HG_RUNTIME_ERROR} : int32_t{HG_COMM_LOST},
              std::string(what) + ": " + m.error_text(code), rank);
}

/// Tags have 15 bits in every library, and more in most.
int key_bits_of(const Library& m, Handle comm) {
  int *most = nullptr, is_there = 0, bits = 15;
  m.Comm_get_attr(comm, m.tag_ub, &most, &is_there);
  if (is_there && most)
    while (bits < 30 && *most >> (bits + 1)) ++bits;
  return bits - kEpochBits - kOperationBits;
}

int open(const hg_comm_open* how, const hg_comm_patience*, void** self, hg_comm_status* status) {
  for (uint32_t i = 0; i < how->n_option; ++i)
    if (std::string_view(how->option[i]) != "library")
      return fail(status, HG_VALUE_ERROR,
                  std::string("there is no option \"") + how->option[i] + "\"; it takes library.");
  const char* set = std::getenv("HORNGATE_MPI");
  std::string why;
  const Library* m = load_library(std::string(option(how, "library", set ? set : "")), why);
  if (!m) return fail(status, HG_RUNTIME_ERROR, why);
  static const std::string where = m->path, library = m->version;
  api.where = where.c_str();
  api.library = library.c_str();
  int is_init = 0, is_final = 0, level = 0;
  m->Initialized(&is_init);
  m->Finalized(&is_final);
  if (is_final) return fail(status, HG_RUNTIME_ERROR, "MPI is finalized already.");
  if (is_init) {
    m->Query_thread(&level);
  } else {
    if (const int code = m->Init_thread(nullptr, nullptr, m->multiple, &level))
      return fail_mpi(*m, code, "MPI_Init_thread", -1, status);
    did_init = true;
  }
  if (level < m->serialized)
    return fail(status, HG_RUNTIME_ERROR,
                "MPI was initialised for one thread; MPI_THREAD_SERIALIZED or more is needed.");
  auto g = std::make_unique<Group>();
  g->m = m;
  m->Comm_set_errhandler(m->comm_world, m->errors_return);
  if (const int code = m->Comm_dup(m->comm_world, &g->comm))
    return fail_mpi(*m, code, "MPI_Comm_dup", -1, status);
  m->Comm_set_errhandler(g->comm, m->errors_return);
  g->key_bits = key_bits_of(*m, m->comm_world);
  int ranks = 0;
  m->Comm_rank(g->comm, &g->rank);
  m->Comm_size(g->comm, &ranks);
  for (int r = 0; r < ranks; ++r) g->places.push_back(r);
  *self = g.release();
  return 0;
}

void info(void* self, hg_comm_info* out) {
  const Group& g = *group_of(self);
  out->rank = g.rank;
  out->ranks = g.ranks();
  out->caps = HG_COMM_CAP_SHRINK;
  // The library's own operations need all ranks.
  if (g.epoch == 0) out->caps |= HG_COMM_CAP(HG_COMM_ALL_REDUCE);
}

int reduces(void* self, int32_t dtype, int32_t reduction) {
  const Library& m = *group_of(self)->m;
  return dtype >= 0 && dtype < 13 && m.types[dtype] && reduction >= 0 && reduction < 4;
}

int tag_of(const Group& g, uint64_t key, uint64_t bytes) {
  const uint64_t mixed = (key ^ bytes) * 0x9e3779b97f4a7c15u >> (64 - g.key_bits);
  const uint64_t epoch = g.epoch % (1 << kEpochBits), number = g.operations % (1 << kOperationBits);
  return static_cast<int>(((epoch << kOperationBits | number) << g.key_bits) | mixed);
}

int post(Group& g, Request& request, int peer, const hg_comm_part& part, uint64_t key, bool is_in) {
  const Library& m = *g.m;
  const int place = g.places[static_cast<size_t>(peer)], tag = tag_of(g, key, part.bytes);
  for (uint64_t at = 0; at < part.bytes; at += kMostBytes) {
    const int bytes = static_cast<int>(std::min(kMostBytes, part.bytes - at));
    char* const data = static_cast<char*>(part.data) + at;
    Message message = {0, peer, is_in, bytes};
    const int code = is_in ? m.Irecv(data, bytes, m.byte, place, tag, g.comm, &message.request)
                           : m.Isend(data, bytes, m.byte, place, tag, g.comm, &message.request);
    if (code != 0) return code;
    request.open.push_back(message);
  }
  return 0;
}

int post_all(Group& g, Request& request, const hg_comm_op& op, int& peer) {
  const int n = g.ranks();
  for (const bool is_in : {true, false})
    for (int k = 1; k < n; ++k) {  // everybody begins with another one
      peer = is_in ? (g.rank - k + n) % n : (g.rank + k) % n;
      const hg_comm_part& part = (is_in ? op.recv : op.send)[peer];
      if (const int code = post(g, request, peer, part, op.key, is_in)) return code;
    }
  return 0;
}

int post_all_reduce(Group& g, Request& request, const hg_comm_op& op) {
  const Library& m = *g.m;
  constexpr uint64_t kSizes[] = {2, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  const uint64_t size = kSizes[op.dtype];
  for (uint64_t at = 0; at < op.count; at += kMostBytes) {
    const int count = static_cast<int>(std::min(kMostBytes, op.count - at));
    char* const out = static_cast<char*>(op.out) + at * size;
    const void* const in =
        op.in == op.out ? m.in_place : static_cast<const char*>(op.in) + at * size;
    Message message = {0, -1, true};
    if (const int code = m.Iallreduce(in, out, count, m.types[op.dtype], m.operations[op.reduction],
                                      g.comm, &message.request))
      return code;
    request.open.push_back(message);
  }
  return 0;
}

/// Whether it is done, and MPI's code. Ranks that do different things may use one tag, and MPI takes a message that is too short.
int ask(const Group& g, Message& message, int& is_done) {
  alignas(16) char status[256] = {};  // more than any library needs
  if (const int code = g.m->Test(&message.request, &is_done, status)) return code;
  if (!is_done || !message.is_in || message.peer < 0) return 0;
  int bytes = 0;
  if (const int code = g.m->Get_count(status, g.m->byte, &bytes)) return code;
  return bytes == message.bytes ? 0 : kOtherSize;
}

/// Takes the messages that are done off the list. 0, or MPI's error and whose message it was.
int advance(Group& g, Request& request, int& peer) {
  for (size_t i = 0; i < request.open.size();) {
    int is_done = 0;
    Message& message = request.open[i];
    if (const int code = ask(g, message, is_done)) {
      peer = message.peer;
      request.open.erase(request.open.begin() + static_cast<ptrdiff_t>(i));
      return code;
    }
    if (is_done) {
      message = request.open.back();
      request.open.pop_back();
    } else {
      ++i;
    }
  }
  return 0;
}

/// What nobody waits for any more. Memory is released once nothing can come.
void abandon(Group& g, std::unique_ptr<Request> request) {
  for (Message& message : request->open)
    if (message.is_in && message.peer >= 0) g.m->Cancel(&message.request);
  g.abandoned.push_back(std::move(request));
}

void look_at_abandoned(Group& g) {
  for (auto it = g.abandoned.begin(); it != g.abandoned.end();) {
    int peer = -1;
    while (advance(g, **it, peer) != 0) {
    }
    if ((*it)->open.empty()) {
      (*it)->end();
      it = g.abandoned.erase(it);
    } else {
      ++it;
    }
  }
}

int start(void* self, const hg_comm_op* op, void** out, hg_comm_status* status) {
  Group& g = *group_of(self);
  if (!g.abandoned.empty()) look_at_abandoned(g);
  auto request = std::make_unique<Request>();
  request->owner = op->owner;
  request->release = op->release;
  if (g.is_aborted) {
    request->end();
    return fail(status, HG_COMM_ABORTED, "aborted");
  }
  ++g.operations;
  int peer = -1;
  const int code = op->kind == HG_COMM_EXCHANGE ? post_all(g, *request, *op, peer)
                                                : post_all_reduce(g, *request, *op);
  if (code == 0) {
    *out = request.release();
    return 0;
  }
  abandon(g, std::move(request));
  return fail_mpi(*g.m, code, "MPI cannot start", peer, status);
}

/// The pause between two questions: none at first, since most messages come soon; then the processor is left to others.
void pause(Clock::duration idle) {
  if (idle < kSpin) return;
  if (idle < kYield)
    sched_yield();
  else
    std::this_thread::sleep_for(std::clamp<Clock::duration>(idle / 16, kShort, kLong));
}

int wait(void* self, void* which, const hg_comm_patience* patience, hg_comm_status* status) {
  Group& g = *group_of(self);
  std::unique_ptr<Request> request(static_cast<Request*>(which));
  const Limit limit(patience);
  auto last = limit.began();
  auto asked = last;
  for (;;) {
    int peer = -1;
    const size_t before = request->open.size();
    const int code = advance(g, *request, peer);
    if (code != 0) {
      abandon(g, std::move(request));
      return fail_mpi(*g.m, code, "MPI", peer, status);
    }
    if (request->open.empty()) {
      request->end();
      return 0;
    }
    const auto now = Clock::now();
    if (request->open.size() != before) last = now;
    int32_t end = g.is_aborted ? HG_COMM_ABORTED : 0;
    if (end == 0 && (now - asked > 1ms || patience->nanoseconds == 0)) {
      asked = now;
      end = limit.reached();
    }
    if (end != 0) {
      const int late = request->open.front().peer;
      abandon(g, std::move(request));
      return fail(status, end, "given up", end == HG_COMM_TIMEOUT ? late : -1);
    }
    pause(now - last);
  }
}

int test(void* self, void* which, int* done, hg_comm_status* status) {
  Group& g = *group_of(self);
  std::unique_ptr<Request> request(static_cast<Request*>(which));
  int peer = -1;
  const int code = advance(g, *request, peer);
  *done = code == 0 && request->open.empty();
  if (*done) {
    request->end();
    return 0;
  }
  if (code == 0 && !g.is_aborted) {
    (void)request.release();
    return 0;
  }
  abandon(g, std::move(request));
  return code ? fail_mpi(*g.m, code, "MPI", peer, status)
              : fail(status, HG_COMM_ABORTED, "aborted");
}

void abort(void* self) { group_of(self)->is_aborted = true; }

int shrink(void* self, uint32_t n, const int32_t* ranks, void** out, hg_comm_status*) {
  Group& g = *group_of(self);
  auto now = std::make_unique<Group>();
  now->m = g.m;
  now->comm = g.comm;
  now->key_bits = g.key_bits;
  now->epoch = g.epoch + ++g.shrinks;
  for (uint32_t i = 0; i < n; ++i) {
    now->places.push_back(g.places[static_cast<size_t>(ranks[i])]);
    if (ranks[i] == g.rank) now->rank = static_cast<int>(i);
  }
  *out = now.release();
  return 0;
}

/// MPI_Finalize waits for all ranks: not for us once one is lost. What was abandoned is never freed.
void close(void* self, int healthy) {
  std::unique_ptr<Group> g(group_of(self));
  if (!healthy || g->epoch > 0 || !g->abandoned.empty()) {
    for (auto& request : g->abandoned) (void)request.release();
    return;
  }
  g->m->Comm_free(&g->comm);
  int is_final = 0;
  g->m->Finalized(&is_final);
  if (did_init && !is_final) g->m->Finalize();
}

}  // namespace

const hg_comm_api* main_of(uint32_t host_abi) {
  api.abi = HG_COMM_ABI;
  api.size = sizeof api;
  api.name = "mpi";
  api.version = "1";
  api.open = open;
  api.info = info;
  api.reduces = reduces;
  api.start = start;
  api.wait = wait;
  api.test = test;
  api.abort = abort;
  api.shrink = shrink;
  api.close = close;
  return host_abi == HG_COMM_ABI ? &api : nullptr;
}

}  // namespace horngate::comm::mpi

extern "C" HG_ENGINE_EXPORT const hg_comm_api* hg_comm_main(uint32_t host_abi) {
  return horngate::comm::mpi::main_of(host_abi);
}
