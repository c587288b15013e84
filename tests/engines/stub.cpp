// A small engine to copy from: runs add, mul and neg on float32 arrays of one shape, element by element. What it
// does not support runs on native around it.
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "horngate/engine.h"

namespace {

struct Step {
  char op;
  uint32_t a, b, out;
  int64_t n;
};

struct Executable {
  std::vector<Step> steps;
  std::vector<uint32_t> in, out;
  std::vector<std::vector<float>> values;  // memory for all values; inputs and outputs are copied
};

int open(const hg_open*, void** engine, hg_status*) {
  static int token;
  *engine = &token;
  return 0;
}

bool same_type(const hg_type& a, const hg_type& b) {
  return a.dtype == HG_FLOAT32 && b.dtype == HG_FLOAT32 && a.rank == b.rank &&
         std::memcmp(a.dims, b.dims, sizeof(int64_t) * static_cast<size_t>(a.rank)) == 0;
}

int supports(void*, const hg_graph* g, uint32_t node) {
  const hg_node& n = *g->node[node];
  const std::string prim = n.prim;
  if (prim != "add" && prim != "mul" && prim != "neg") return 0;
  for (uint32_t i = 0; i < n.n_in; ++i)
    if (!same_type(*g->value[n.in[i]], *g->value[n.out[0]])) return 0;
  return 1;
}

int64_t count(const hg_type& t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t.rank; ++i) n *= t.dims[i];
  return n;
}

int compile(void*, const hg_graph* g, void** executable, hg_status* status) try {
  auto* e = new Executable;
  e->in.assign(g->in, g->in + g->n_in);
  e->out.assign(g->out, g->out + g->n_out);
  e->values.resize(g->n_value);
  for (uint32_t i = 0; i < g->n_value; ++i)
    e->values[i].resize(static_cast<size_t>(count(*g->value[i])));
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const hg_node& n = *g->node[i];
    if (std::strcmp(n.prim, "constant") == 0) {
      const auto* b = static_cast<const hg_buffer*>(n.attr[0]->data);
      if (b->type->dtype == HG_FLOAT32) std::memcpy(e->values[n.out[0]].data(), b->data, b->bytes);
      continue;
    }
    e->steps.push_back(
        {n.prim[0], n.in[0], n.in[n.n_in - 1], n.out[0], count(*g->value[n.out[0]])});
  }
  *executable = e;
  return 0;
} catch (const std::bad_alloc&) {
  status->code = HG_RUNTIME_ERROR;
  std::strcpy(status->text, "engine stub: out of memory.");
  return 1;
}

int run(void* executable, const hg_buffer* const* in, hg_buffer* const* out, const hg_run*,
        hg_status*) {
  auto& e = *static_cast<Executable*>(executable);
  for (size_t i = 0; i < e.in.size(); ++i)
    if (in[i]->type->dtype == HG_FLOAT32)
      std::memcpy(e.values[e.in[i]].data(), in[i]->data, in[i]->bytes);
  for (const Step& s : e.steps)
    for (size_t i = 0; i < static_cast<size_t>(s.n); ++i) {
      const float a = e.values[s.a][i], b = e.values[s.b][i];
      e.values[s.out][i] = s.op == 'a' ? a + b : s.op == 'm' ? a * b : -a;
    }
  for (size_t i = 0; i < e.out.size(); ++i)
    std::memcpy(out[i]->data, e.values[e.out[i]].data(), out[i]->bytes);
  return 0;
}

void free_executable(void* executable) { delete static_cast<Executable*>(executable); }

const hg_engine_api kApi = {HG_ABI, sizeof(hg_engine_api), "stub", "1", 0, open, supports, compile,
                            run,    free_executable};

}  // namespace

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  return host_abi == HG_ABI ? &kApi : nullptr;
}
