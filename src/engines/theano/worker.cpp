// What the engine asks of its worker process: build a program, run it, forget it.
//
// A request is one message: a letter and the program's number. B builds (a second message carries the program as a
// file), P places arrays (a second message says where, perhaps with new memory), R runs (into which set of places), F
// forgets (no answer). An answer is a letter: k for success, i for interrupted, e for an error, followed by a digit
// (the code of hg_status) and a text. h is sent once Theano is loaded. Notes may precede an answer: c with a text when
// something is being compiled, c alone when that is done.
#include "worker.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "../common/api.h"

namespace horngate::theano {
namespace {

using namespace std::chrono_literals;

std::atomic<Worker*> current_worker{nullptr};

struct Request {
  char letter;
  uint8_t set = 0;   // R: where the results go
  uint8_t look = 0;  // R: whether to poll for the next request before sleeping
  char unused = 0;
  uint32_t id = 0;
};

/// Different for each worker process that a program may meet, even across forks.
uint64_t new_generation() {
  static std::atomic<uint32_t> count{0};
  return uint64_t{static_cast<uint32_t>(getpid())} << 32 | ++count;
}

/// What is asked outside of runs has no run.
bool is_stopped(const hg_run* run) { return run && run->stopped && run->stopped(run->ctx); }

/// What the worker is compiling. For a large graph that takes minutes, and silence would look like a hang: after some
/// seconds a line says what is going on.
class Compilation {
 public:
  /// A note from the worker: what is being compiled from now on; empty if nothing is.
  void begin(std::string what) {
    what_ = std::move(what);
    began_ = std::chrono::steady_clock::now();
  }
  void look(const std::string& cache) {
    if (what_.empty() || std::chrono::steady_clock::now() - began_ < kQuietFor) return;
    const char* quiet = std::getenv("HORNGATE_QUIET");
    if (!quiet || !*quiet || std::strcmp(quiet, "0") == 0) {
      const std::string line = "horngate: Theano is compiling " + what_ +
                               "; this may take minutes. The result is kept in " +
                               (cache.empty() ? "Theano's cache" : cache) + ".\n";
      std::fputs(line.c_str(), stderr);
    }
    what_.clear();
  }

 private:
  static constexpr auto kQuietFor = 5s;
  std::string what_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace

Worker* Worker::current() { return current_worker.load(); }

void Worker::open(Installation where) {
  current_worker = new Worker(std::move(where));  // never closed
  pthread_atfork(nullptr, nullptr, after_fork);
}

/// A child starts its own worker when it needs one. The old object is left as it is: another thread of the parent may
/// have been using it.
void Worker::after_fork() {
  Worker* old = current_worker.load();
  if (old->process_) old->process_->abandon();
  current_worker = new Worker(old->where_);
}

int Worker::died(const char* during, hg_status* status) {
  const std::string text = "engine theano: the worker process " + process_->how_it_ended() +
                           " during " + during +
                           ". Variables are as before; the next call starts a new one.";
  process_.reset();
  return engines::fail(status, HG_RUNTIME_ERROR, text);
}

/// Starts the process if there is none, and waits until Theano is loaded.
int Worker::ready(hg_status* status) {
  if (process_ && !process_->is_dead()) return 0;
  std::string why;
  process_ = Process::start(where_, why);
  if (!process_) return engines::fail(status, HG_RUNTIME_ERROR, "engine theano: " + why);
  generation_ = new_generation();
  return answer("its start", nullptr, status);
}

int Worker::answer(const char* during, const hg_run* run, hg_status* status,
                   std::chrono::nanoseconds expected) {
  using Clock = std::chrono::steady_clock;
  bool asked_to_stop = false;
  Clock::time_point patience_ends;
  Compilation compilation;
  const auto interrupted = [&] {
    return engines::fail(status, HG_INTERRUPTED, "engine theano: interrupted.");
  };
  for (;;) {
    switch (process_->receive(message_, std::exchange(expected, {}))) {
      case Process::Got::end: return died(during, status);
      case Process::Got::nothing_yet:
        compilation.look(where_.cache.string());
        if (!asked_to_stop && is_stopped(run)) {
          asked_to_stop = true;
          patience_ends = Clock::now() + std::chrono::seconds(2);
          process_->signal(SIGINT);
        } else if (asked_to_stop && Clock::now() > patience_ends) {
          process_.reset();
          return interrupted();
        }
        continue;
      case Process::Got::message: break;
    }
    switch (message_[0]) {
      case 'c': compilation.begin(message_.substr(1)); continue;
      // A result that comes after the caller asked to stop does not count: nothing may be committed any more.
      case 'k': return asked_to_stop ? interrupted() : 0;
      case 'h': return 0;
      case 'i': return interrupted();
      default: return engines::fail(status, message_[1] - '0', message_.substr(2));
    }
  }
}

int Worker::build(WorkerGraph& program, hg_status* status) {
  program.generation = 0;
  if (ask('B', program, program.text, {}, "a compilation", status)) return 1;
  program.generation = generation_;
  return 0;
}

/// Tells the worker where the arrays of this run lie, if that has changed.
int Worker::place(WorkerGraph& program, const hg_buffer* const* in, const hg_buffer* const* out,
                  hg_status* status) {
  const bool is_new_worker = program.placed_for != generation_;
  if (is_new_worker) program.forget_places();
  if (!program.place(in, out)) return 0;
  const std::string places = program.places(in, out);
  if (ask('P', program, places, program.new_memory(), "a call", status)) return 1;
  program.close_files();
  program.is_placed = true;
  program.placed_for = generation_;
  return 0;
}

/// A request with a text and, possibly, new memory.
int Worker::ask(char letter, const WorkerGraph& program, const std::string& text,
                const std::vector<int>& memory, const char* during, hg_status* status) {
  std::vector<int> fds = {file_in_memory(text)};
  fds.insert(fds.end(), memory.begin(), memory.end());
  if (fds[0] < 0)
    return engines::fail(status, HG_RUNTIME_ERROR,
                         "engine theano: out of memory: cannot get shared memory.");
  const Request request{.letter = letter, .id = program.id};
  const bool sent =
      process_->send(&request, sizeof request) &&
      process_->send(&request, sizeof request, fds.data(), static_cast<int>(fds.size()));
  close(fds[0]);
  if (!sent) return died(during, status);
  return answer(during, nullptr, status);
}

int Worker::compile(WorkerGraph& program, hg_status* status) {
  const std::lock_guard lock(mutex_);
  send_forgotten();
  return ready(status) || build(program, status);
}

/// Copies the inputs, except those that are already there according to their stamps.
void Worker::store(WorkerGraph& program, const hg_buffer* const* in) {
  for (size_t i = 0; i < program.in_at.size(); ++i) {
    const uint64_t stamp = in[i]->stamp;
    if (stamp != 0 && stamp == program.stamps[i]) continue;
    program.stamps[i] = stamp;
    if (program.in_bytes[i])
      std::memcpy(program.memory() + program.in_at[i], in[i]->data, program.in_bytes[i]);
  }
}

int Worker::run(WorkerGraph& program, const hg_buffer* const* in, hg_buffer* const* out,
                const hg_run* run, hg_status* status) {
  const std::lock_guard lock(mutex_);
  send_forgotten();
  if (ready(status)) return 1;
  if (program.generation != generation_ && build(program, status)) return 1;
  if (place(program, in, out, status)) return 1;
  store(program, in);
  const int set = program.results().free_set();
  const bool look = spare_cpu_.is_there();
  const Request request{
      .letter = 'R', .set = static_cast<uint8_t>(set), .look = look, .id = program.id};
  const auto expected = look ? std::min(program.took[0], program.took[1]) : 0ns;
  const auto began = std::chrono::steady_clock::now();
  if (!process_->send(&request, sizeof request)) return died("a call", status);
  if (answer("a call", run, status, expected)) return 1;
  program.took = {program.took[1], std::chrono::steady_clock::now() - began};
  for (size_t i = 0; i < program.out_at.size(); ++i) {
    if (!out[i]->data && set != 0 && program.out_bytes[i] >= Results::kLeast) {
      program.results().give(*out[i], set, program.out_at[i], program.out_bytes[i]);
      continue;
    }
    if (!out[i]->data) {
      out[i]->data = out[i]->owner = std::aligned_alloc(64, (program.out_bytes[i] + 64) / 64 * 64);
      out[i]->release = std::free;
      if (!out[i]->data)
        return engines::fail(status, HG_RUNTIME_ERROR, "engine theano: out of memory.");
    }
    if (program.out_bytes[i])
      std::memcpy(out[i]->data, program.results().at(set, program.out_at[i]), program.out_bytes[i]);
  }
  return 0;
}

/// Kept for the next call, so as not to wait for a running one.
void Worker::forget(uint32_t id) {
  const std::lock_guard lock(forgotten_mutex_);
  forgotten_.push_back(id);
}

void Worker::send_forgotten() {
  const std::lock_guard lock(forgotten_mutex_);
  for (const uint32_t id : forgotten_)
    if (const Request request{.letter = 'F', .id = id}; process_ && !process_->is_dead())
      process_->send(&request, sizeof request);
  forgotten_.clear();
}

}  // namespace horngate::theano
