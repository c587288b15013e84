// The null engine: accepts every graph and computes nothing; outputs are zeros. For tests of everything that
// happens before a kernel runs, and the smallest example of a plug-in.
#include <cstring>
#include <new>

#include "../common/api.h"

namespace {

using namespace horngate::engines;

struct Executable {
  uint32_t n_out;
};

int supports(void*, const hg_graph*, uint32_t) { return 1; }

int compile(void*, const hg_graph* graph, void** executable, hg_status* status) {
  auto* e = new (std::nothrow) Executable{graph->n_out};
  *executable = e;
  if (e) return 0;
  return fail(status, HG_RUNTIME_ERROR, "engine null: out of memory.");
}

int run(void* executable, const hg_buffer* const*, hg_buffer* const* out, const hg_run*,
        hg_status*) {
  for (uint32_t i = 0; i < static_cast<Executable*>(executable)->n_out; ++i)
    if (out[i]->bytes) std::memset(out[i]->data, 0, out[i]->bytes);
  return 0;
}

void free_executable(void* executable) { delete static_cast<Executable*>(executable); }

constexpr hg_engine_api kApi =
    make_api("null", "1", HG_CAP_SCAN | HG_CAP_COND | HG_CAP_CONCURRENT_RUN, open_nothing, supports,
             compile, run, free_executable);

}  // namespace

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  return host_abi == HG_ABI ? &kApi : nullptr;
}
