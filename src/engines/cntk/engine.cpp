// The cntk engine: Microsoft's CNTK 2.7 as a plug-in. Errors of the library are caught here.
#include <mutex>
#include <stdexcept>

#include "../common/api.h"
#include "cntk/convert.h"
#include "cntk/executable.h"

namespace horngate::cntk {
namespace {

int fill(hg_status* status, int32_t code, std::string text) {
  // The library appends a call stack, which helps nobody here.
  if (const size_t stack = text.find("\n\n"); stack != std::string::npos) text.resize(stack);
  // Nor does the list of the graph's inputs, which comes first.
  if (const size_t at = text.find("' Forward: "); at != std::string::npos) {
    const size_t start = text.rfind("Function '", at);
    if (start != std::string::npos) text.erase(start, at + 11 - start);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return engines::fail(status, code, text);
}

/// Runs f; an exception becomes a status and never reaches the host.
template <class F>
int guarded(hg_status* status, const char* prefix, F&& f) noexcept {
  try {
    f();
    return 0;
  } catch (const IndexError& e) {
    return fill(status, HG_INDEX_ERROR, e.what());
  } catch (const std::range_error& e) {
    return fill(status, HG_VALUE_ERROR, std::string(prefix) + e.what());
  } catch (const std::bad_alloc&) {
    return fill(status, HG_RUNTIME_ERROR, std::string(prefix) + "out of memory.");
  } catch (const std::exception& e) {
    return fill(status, HG_RUNTIME_ERROR, std::string(prefix) + e.what());
  } catch (...) {
    return fill(status, HG_RUNTIME_ERROR, std::string(prefix) + "an unknown error occurred.");
  }
}

extern hg_engine_api own_api;

int open(const hg_open* how, void** engine, hg_status* status) {
  return guarded(status, "", [&] {
    if (const std::string wrong = engines::unknown_option(how, {}); !wrong.empty())
      throw std::range_error(wrong);
    static std::mutex mutex;
    static Library* library = nullptr;  // never unloaded
    static std::string where;
    std::lock_guard lock(mutex);
    if (!library) {
      own_api.where = nullptr;
      where = find_folder();
      own_api.where = where.c_str();
      auto fresh = std::make_unique<Library>();
      load(*fresh);
      library = fresh.release();
    }
    *engine = library;
  });
}

int supports(void*, const hg_graph* graph, uint32_t node) {
  try {
    return cntk::supports(*graph, *graph->node[node]);
  } catch (...) {
    return 0;
  }
}

int compile(void* engine, const hg_graph* graph, void** executable, hg_status* status) {
  return guarded(status, "engine cntk: ", [&] {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    *executable = cntk::compile(*static_cast<Library*>(engine), *graph).release();
  });
}

int run(void* executable, const hg_buffer* const* in, hg_buffer* const* out, const hg_run* run,
        hg_status* status) {
  if (run->stopped && run->stopped(run->ctx)) return fill(status, HG_INTERRUPTED, "interrupted.");
  return guarded(status, "engine cntk: ", [&] {
    static_cast<Executable*>(executable)->run(in, out, run->threads);
  });
}

void free_executable(void* executable) { delete static_cast<Executable*>(executable); }

size_t executable_bytes(void* executable) { return static_cast<Executable*>(executable)->bytes(); }

hg_engine_api own_api = engines::make_api("cntk", "2.7", HG_CAP_NO_EMPTY, open, supports, compile,
                                          run, free_executable, executable_bytes);

}  // namespace
}  // namespace horngate::cntk

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  return host_abi == HG_ABI ? &horngate::cntk::own_api : nullptr;
}
