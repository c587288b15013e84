// The onnx engine: ONNX Runtime behind engine.h.
#include <exception>
#include <new>

#include "../common/api.h"
#include "executable.h"
#include "lower.h"
#include "runtime.h"

namespace {

using namespace horngate::onnx;
using horngate::engines::fail;

/// The status of the exception being handled. Texts of the library are prefixed with the engine's
/// name.
int fail_with_current(hg_status* status) {
  const auto named = [](const char* text) { return std::string("engine onnx: ") + text; };
  try {
    throw;
  } catch (const IndexFault& e) {
    return fail(status, HG_INDEX_ERROR, e.what());
  } catch (const Unsupported& e) {
    return fail(status, HG_NOT_IMPLEMENTED, named(e.what()));
  } catch (const RuntimeFault& e) {
    return fail(status, HG_RUNTIME_ERROR, named(e.what()));
  } catch (const std::bad_alloc&) {
    return fail(status, HG_RUNTIME_ERROR, "engine onnx: out of memory.");
  } catch (const std::exception& e) {
    return fail(status, HG_RUNTIME_ERROR, named(e.what()));
  } catch (...) {
    return fail(status, HG_RUNTIME_ERROR, "engine onnx: an unknown error occurred.");
  }
}

/// How far the library rewrites graphs, as its own number.
int optimization_of(std::string_view level) {
  if (level == "off") return 0;
  if (level == "basic") return 1;
  if (level == "extended") return 2;
  if (level == "all") return Runtime::kOptimizeAll;
  throw std::runtime_error("option optimization must be off, basic, extended or all; got \"" +
                           std::string(level) + "\".");
}

extern hg_engine_api api;

int open(const hg_open* how, void** engine, hg_status* status) try {
  static std::string where;
  where = Runtime::find();
  api.where = where.empty() ? nullptr : where.c_str();
  if (const std::string wrong = horngate::engines::unknown_option(how, {"optimization"});
      !wrong.empty())
    return fail(status, HG_VALUE_ERROR, wrong);
  const std::string_view level = horngate::engines::option(how, "optimization").value_or("all");
  // never deleted: the library stays open
  auto* runtime = new Runtime(how->threads, optimization_of(level));
  api.version = runtime->version().c_str();
  *engine = runtime;
  return 0;
} catch (const std::exception& e) {
  return fail(status, HG_RUNTIME_ERROR, e.what());
}

int supports(void*, const hg_graph* graph, uint32_t node) try {
  Lowering::check(*graph, node, Aim::run);
  return 1;
} catch (const std::exception&) {
  return 0;
}

int compile(void* engine, const hg_graph* graph, void** executable, hg_status* status) try {
  *executable = new Executable(*static_cast<const Runtime*>(engine), *graph);
  return 0;
} catch (...) {
  return fail_with_current(status);
}

int run(void* executable, const hg_buffer* const* in, hg_buffer* const* out, const hg_run* run,
        hg_status* status) try {
  if (run->stopped && run->stopped(run->ctx))
    return fail(status, HG_INTERRUPTED, "engine onnx: interrupted.");
  static_cast<Executable*>(executable)->run(in, out);
  return 0;
} catch (...) {
  return fail_with_current(status);
}

void free_executable(void* executable) { delete static_cast<Executable*>(executable); }

size_t executable_bytes(void* executable) { return static_cast<Executable*>(executable)->bytes(); }

hg_engine_api api = horngate::engines::make_api(
    "onnx", "not loaded", HG_CAP_SCAN | HG_CAP_COND | HG_CAP_CONCURRENT_RUN, open, supports,
    compile, run, free_executable, executable_bytes);

}  // namespace

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  return host_abi == HG_ABI ? &api : nullptr;
}
