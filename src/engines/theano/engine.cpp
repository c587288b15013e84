// The theano engine: the real Theano 1.0.5 in a separate process. This is its interface to
// Horngate.
#include <exception>
#include <memory>

#include "../common/api.h"
#include "find.h"
#include "program.h"
#include "supports.h"
#include "worker.h"

namespace {

using namespace horngate::theano;

template <class F>
int guarded(hg_status* status, F&& f) {
  try {
    return f();
  } catch (const std::exception& e) {
    return horngate::engines::fail(status, HG_RUNTIME_ERROR,
                                   std::string("engine theano: ") + e.what() + ".");
  }
}

extern hg_engine_api own_api;

int open(const hg_open* how, void** engine, hg_status* status) {
  return guarded(status, [&] {
    Installation where;
    const std::string why = find_installation(where);
    static std::string python;
    python = where.python.string();
    own_api.where = python.empty() ? nullptr : python.c_str();
    if (!why.empty()) return horngate::engines::fail(status, HG_RUNTIME_ERROR, why);
    const std::string wrong = horngate::engines::unknown_option(how, {});
    if (!wrong.empty()) return horngate::engines::fail(status, HG_VALUE_ERROR, wrong);
    Worker::open(std::move(where));
    *engine = nullptr;
    return 0;
  });
}

int engine_supports(void*, const hg_graph* graph, uint32_t node) {
  return supports(*graph, *graph->node[node]);
}

int compile(void*, const hg_graph* graph, void** executable, hg_status* status) {
  return guarded(status, [&] {
    auto program = std::make_unique<WorkerGraph>(*graph);
    if (Worker::current()->compile(*program, status)) return 1;
    *executable = program.release();
    return 0;
  });
}

int run(void* executable, const hg_buffer* const* in, hg_buffer* const* out, const hg_run* run,
        hg_status* status) {
  return guarded(status, [&] {
    return Worker::current()->run(*static_cast<WorkerGraph*>(executable), in, out, run, status);
  });
}

void free_executable(void* executable) {
  const std::unique_ptr<WorkerGraph> program(static_cast<WorkerGraph*>(executable));
  try {
    Worker::current()->forget(program->id);
  } catch (const std::exception&) {  // no memory to note it: the worker keeps the program
  }
}

// The worker itself makes calls take turns.
hg_engine_api own_api = horngate::engines::make_api(
    "theano", kVersion,
    HG_CAP_FREE_DIMS | HG_CAP_SCAN | HG_CAP_COND | HG_CAP_CONCURRENT_RUN | HG_CAP_GIVES_MEMORY,
    open, engine_supports, compile, run, free_executable);

}  // namespace

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  return host_abi == HG_ABI ? &own_api : nullptr;
}
