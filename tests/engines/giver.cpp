// An engine that supplies the memory of its results: runs neg on float32. Counts what it has given and not got back.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "engines/common/api.h"

namespace {

using namespace horngate::engines;

struct Executable {
  std::vector<uint32_t> from;  // per output: number of the input that it is the negative of
};

std::atomic<int> live{0}, with_memory{0};

int supports(void*, const hg_graph* g, uint32_t node) {
  const hg_node& n = *g->node[node];
  if (std::strcmp(n.prim, "neg") != 0 || g->value[n.in[0]]->dtype != HG_FLOAT32) return 0;
  for (uint32_t i = 0; i < g->n_in; ++i)
    if (g->in[i] == n.in[0]) return 1;
  return 0;
}

int compile(void*, const hg_graph* g, void** executable, hg_status*) {
  auto* e = new Executable;
  for (uint32_t o = 0; o < g->n_out; ++o)
    for (uint32_t k = 0; k < g->n_node; ++k)
      for (uint32_t i = 0; i < g->n_in; ++i)
        if (g->node[k]->out[0] == g->out[o] && g->node[k]->in[0] == g->in[i]) e->from.push_back(i);
  *executable = e;
  return 0;
}

void release(void* memory) {
  std::free(memory);
  --live;
}

int run(void* executable, const hg_buffer* const* in, hg_buffer* const* out, const hg_run*,
        hg_status*) {
  const auto& e = *static_cast<Executable*>(executable);
  for (size_t o = 0; o < e.from.size(); ++o) {
    if (out[o]->data) {
      ++with_memory;
    } else {
      out[o]->data = out[o]->owner = std::aligned_alloc(64, (out[o]->bytes + 64) / 64 * 64);
      out[o]->release = release;
      ++live;
    }
    const auto* x = static_cast<const float*>(in[e.from[o]]->data);
    for (size_t i = 0; i < out[o]->bytes / sizeof(float); ++i)
      static_cast<float*>(out[o]->data)[i] = -x[i];
  }
  return 0;
}

void free_executable(void* executable) { delete static_cast<Executable*>(executable); }

constexpr hg_engine_api kApi = make_api("giver", "1", HG_CAP_GIVES_MEMORY, open_nothing, supports,
                                        compile, run, free_executable);

}  // namespace

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  return host_abi == HG_ABI ? &kApi : nullptr;
}
/// For the test: buffers that are out, and outputs that came with memory.
extern "C" int giver_live() { return live; }
extern "C" int giver_with_memory() { return with_memory; }
