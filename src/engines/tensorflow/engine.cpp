// The tensorflow engine: the functions of engine.h.
#include "../common/api.h"
#include "config.h"
#include "session.h"

namespace horngate::tf {
namespace {

using engines::fail;

/// Runs `work`; an exception becomes a status.
template <class F>
int guarded(hg_status* status, F&& work) {
  try {
    work();
    return 0;
  } catch (const Error& e) {
    return fail(status, e.code, e.what());
  } catch (const std::bad_alloc&) {
    return fail(status, HG_RUNTIME_ERROR, "engine tensorflow: out of memory.");
  } catch (const std::exception& e) {
    return fail(status, HG_RUNTIME_ERROR, e.what());
  } catch (...) {
    return fail(status, HG_RUNTIME_ERROR, "engine tensorflow: an unknown error occurred.");
  }
}

extern hg_engine_api own_api;

int open(const hg_open* how, void** engine, hg_status* status) {
  static int token;
  *engine = &token;
  const int failed = guarded(status, [&] {
    if (const std::string wrong = engines::unknown_option(how, {"xla"}); !wrong.empty())
      throw Error(HG_VALUE_ERROR, wrong);
    const std::string_view xla = engines::option(how, "xla").value_or("0");
    if (xla != "0" && xla != "1")
      throw Error(HG_VALUE_ERROR, "option xla must be 0 or 1; got \"" + std::string(xla) + "\".");
    configure(how->threads, xla == "1");
    load();
    own_api.version = library_version();
  });
  own_api.where = library_path();
  return failed;
}

int supports(void*, const hg_graph* graph, uint32_t node) {
  int yes = 0;
  guarded(nullptr, [&] { yes = can_lower(*graph, *graph->node[node]); });
  return yes;
}

int compile(void*, const hg_graph* graph, void** executable, hg_status* status) {
  return guarded(status, [&] { *executable = new Executable(*graph); });
}

int run(void* executable, const hg_buffer* const* in, hg_buffer* const* out, const hg_run* run,
        hg_status* status) {
  return guarded(status, [&] { static_cast<Executable*>(executable)->run(in, out, run); });
}

void free_executable(void* executable) { delete static_cast<Executable*>(executable); }

size_t executable_bytes(void* executable) { return static_cast<Executable*>(executable)->bytes(); }

hg_engine_api own_api = engines::make_api(
    "tensorflow", "",  // set once the library is loaded
    HG_CAP_FREE_DIMS | HG_CAP_SCAN | HG_CAP_COND | HG_CAP_CONCURRENT_RUN | HG_CAP_GIVES_MEMORY,
    open, supports, compile, run, free_executable, executable_bytes);

}  // namespace
}  // namespace horngate::tf

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  return host_abi == HG_ABI ? &horngate::tf::own_api : nullptr;
}
