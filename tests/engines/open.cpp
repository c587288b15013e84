// An engine that leaves sizes open: runs add, mul, div, neg, reduce_sum over all axes and broadcast of one element, on
// float32, and abs where all sizes are numbers. Counts what it compiles.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "engines/common/api.h"

namespace {

using namespace horngate::engines;

struct Node {
  std::string prim;
  std::vector<uint32_t> in;
  uint32_t out;
};

struct Executable {
  std::vector<Node> nodes;
  std::vector<uint32_t> in, out;
  std::vector<std::vector<float>> constants;  // by value
  uint32_t n_value;
};

std::atomic<int> compiles{0}, open_compiles{0};

bool same_shape(const hg_type& a, const hg_type& b) {
  return a.rank == b.rank && std::memcmp(a.dims, b.dims, sizeof(int64_t) * a.rank) == 0;
}

int supports(void*, const hg_graph* g, uint32_t node) {
  const hg_node& n = *g->node[node];
  const std::string prim = n.prim;
  for (uint32_t i = 0; i < n.n_in && i < 2; ++i)
    if (g->value[n.in[i]]->dtype != HG_FLOAT32 && !(prim == "broadcast" && i == 1)) return 0;
  if (prim == "constant") return 1;
  if (prim == "neg" || prim == "expand_dims") return 1;
  if (prim == "abs") {
    const hg_type& t = *g->value[n.in[0]];
    return std::count(t.dims, t.dims + t.rank, -1) == 0;
  }
  if (prim == "reduce_sum") return g->value[n.out[0]]->rank == 0;
  if (prim == "broadcast") return g->value[n.in[0]]->rank <= 1;
  if (prim != "add" && prim != "mul" && prim != "div") return 0;
  const hg_type &a = *g->value[n.in[0]], &b = *g->value[n.in[1]];
  return same_shape(a, b) || a.rank == 0 || b.rank == 0;
}

int compile(void*, const hg_graph* g, void** executable, hg_status*) {
  auto* e = new Executable;
  ++compiles;
  bool is_open = false;
  for (uint32_t v = 0; v < g->n_value; ++v)
    for (int32_t i = 0; i < g->value[v]->rank; ++i) is_open |= g->value[v]->dims[i] < 0;
  open_compiles += is_open;
  e->n_value = g->n_value;
  e->in.assign(g->in, g->in + g->n_in);
  e->out.assign(g->out, g->out + g->n_out);
  e->constants.resize(g->n_value);
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const hg_node& n = *g->node[i];
    if (std::strcmp(n.prim, "constant") == 0) {
      const auto* b = static_cast<const hg_buffer*>(n.attr[0]->data);
      const auto* x = static_cast<const float*>(b->data);
      e->constants[n.out[0]].assign(x, x + b->bytes / sizeof(float));
      continue;
    }
    e->nodes.push_back({n.prim, std::vector<uint32_t>(n.in, n.in + n.n_in), n.out[0]});
  }
  *executable = e;
  return 0;
}

/// Sizes of what is broadcast come from the operand, or, in a graph without open sizes, from the only output.
size_t elements_of(const Node& n, const std::vector<const int64_t*>& shapes,
                   const std::vector<size_t>& ranks, size_t otherwise) {
  if (n.in.size() < 2) return otherwise;
  size_t count = 1;
  for (size_t i = 0; i < ranks[n.in[1]]; ++i) count *= static_cast<size_t>(shapes[n.in[1]][i]);
  return count;
}

int run(void* executable, const hg_buffer* const* in, hg_buffer* const* out, const hg_run*,
        hg_status* status) {
  const auto& e = *static_cast<Executable*>(executable);
  std::vector<std::vector<float>> now = e.constants;
  std::vector<const int64_t*> shapes(e.n_value, nullptr);
  std::vector<size_t> ranks(e.n_value, 0);
  for (size_t i = 0; i < e.in.size(); ++i) {
    if (in[i]->type->dtype == HG_INT64) {
      shapes[e.in[i]] = static_cast<const int64_t*>(in[i]->data);
      ranks[e.in[i]] = static_cast<size_t>(in[i]->type->dims[0]);
      continue;
    }
    const auto* x = static_cast<const float*>(in[i]->data);
    now[e.in[i]].assign(x, x + in[i]->bytes / sizeof(float));
  }
  for (const Node& n : e.nodes) {
    const std::vector<float>& a = now[n.in[0]];
    std::vector<float> y;
    if (n.prim == "neg") {
      for (const float v : a) y.push_back(-v);
    } else if (n.prim == "abs") {
      for (const float v : a) y.push_back(v < 0 ? -v : v);
    } else if (n.prim == "expand_dims") {
      y = a;
    } else if (n.prim == "reduce_sum") {
      y.assign(1, 0);
      for (const float v : a) y[0] += v;
    } else if (n.prim == "broadcast") {
      y.assign(elements_of(n, shapes, ranks, out[0]->bytes / sizeof(float)), a[0]);
    } else {
      const std::vector<float>& b = now[n.in[1]];
      const size_t count = a.empty() || b.empty() ? 0 : std::max(a.size(), b.size());
      for (size_t i = 0; i < count; ++i) {
        const float p = a[a.size() == 1 ? 0 : i], q = b[b.size() == 1 ? 0 : i];
        y.push_back(n.prim == "add" ? p + q : n.prim == "mul" ? p * q : p / q);
      }
    }
    now[n.out] = std::move(y);
  }
  for (size_t i = 0; i < e.out.size(); ++i) {
    const std::vector<float>& y = now[e.out[i]];
    if (y.size() * sizeof(float) != out[i]->bytes)
      return fail(status, HG_RUNTIME_ERROR,
                  "engine open: a result has another size than its buffer.");
    if (out[i]->bytes) std::memcpy(out[i]->data, y.data(), out[i]->bytes);
  }
  return 0;
}

void free_executable(void* executable) { delete static_cast<Executable*>(executable); }

constexpr hg_engine_api kApi =
    make_api("open", "1", HG_CAP_FREE_DIMS, open_nothing, supports, compile, run, free_executable);

}  // namespace

extern "C" const hg_engine_api* hg_engine_main(uint32_t host_abi) {
  return host_abi == HG_ABI ? &kApi : nullptr;
}
/// For the test: graphs compiled, and how many of them with open sizes.
extern "C" int open_compiles_all() { return compiles; }
extern "C" int open_compiles_open() { return open_compiles; }
