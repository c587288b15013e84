// The null engine: accepts every graph and computes nothing; outputs are zeros. For tests of all that happens
// before a kernel runs, and the smallest example of a plug-in.
#include <cstring>
#include <new>

#include "horngate/engine.h"

namespace {

struct Executable {
  uint32_t n_out;
};

int open(const char*, void** engine, hg_status*) {
  static int token;
  *engine = &token;
  return 0;
}

int supports(void*, const hg_graph*, uint32_t) { return 1; }

int compile(void*, const hg_graph* graph, void** executable, hg_status* status) {
  auto* e = new (std::nothrow) Executable{graph->n_out};
  *executable = e;
  if (e) return 0;
  status->code = HG_RUNTIME_ERROR;
  std::strncpy(status->text, "engine null: out of memory.", sizeof status->text - 1);
  return 1;
}

int run(void* executable, const hg_buffer*, hg_buffer* out, const hg_run*, hg_status*) {
  for (uint32_t i = 0; i < static_cast<Executable*>(executable)->n_out; ++i)
    if (out[i].bytes) std::memset(out[i].data, 0, out[i].bytes);
  return 0;
}

void free_executable(void* executable) { delete static_cast<Executable*>(executable); }

const hg_engine_api kApi = {HG_ABI,
                            sizeof(hg_engine_api),
                            "null",
                            "1",
                            HG_CAP_SCAN | HG_CAP_COND | HG_CAP_CONCURRENT_RUN,
                            open,
                            supports,
                            compile,
                            run,
                            free_executable,
                            nullptr,
                            nullptr,
                            nullptr,
                            nullptr};

}  // namespace

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  return host_abi == HG_ABI ? &kApi : nullptr;
}
