// What the engine asks of its worker process: build a program, run it, forget it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "horngate/engine.h"
#include "process.h"
#include "program.h"
#include "spare_cpu.h"

namespace horngate::theano {

/// One per process; a forked child has its own. Calls from several threads take turns.
class Worker {
 public:
  explicit Worker(Installation where) : where_(std::move(where)) {}

  int compile(WorkerGraph& program, hg_status* status);
  int run(WorkerGraph& program, const hg_buffer* const* in, hg_buffer* const* out,
          const hg_run* run, hg_status* status);
  void forget(uint32_t id);

  /// The worker of this process, made by `open`.
  static Worker* current();
  static void open(Installation where);

 private:
  int ready(hg_status* status);
  int build(WorkerGraph& program, hg_status* status);
  int place(WorkerGraph& program, const hg_buffer* const* in, const hg_buffer* const* out,
            hg_status* status);
  int ask(char letter, const WorkerGraph& program, const std::string& text,
          const std::vector<int>& memory, const char* during, hg_status* status);
  void store(WorkerGraph& program, const hg_buffer* const* in);
  /// Waits for an answer: 0, or the status is filled. `expected`: how long that should take, if known.
  int answer(const char* during, const hg_run* run, hg_status* status,
             std::chrono::nanoseconds expected = {});
  int died(const char* during, hg_status* status);
  void send_forgotten();
  static void after_fork();

  const Installation where_;
  std::mutex mutex_;
  std::unique_ptr<Process> process_;
  SpareCpu spare_cpu_;
  uint64_t generation_ = 0;
  std::string message_;
  std::mutex forgotten_mutex_;
  std::vector<uint32_t> forgotten_;
};

}  // namespace horngate::theano
