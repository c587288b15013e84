// Sizes that stay open.
#include "plan/open_dims.h"

#include <algorithm>
#include <map>

#include "ir/check.h"
#include "ir/primitive.h"

namespace horngate {
namespace {

// Sizes for the probes: large primes that no program contains by chance.
constexpr int64_t kBatch = 1009;
constexpr int64_t kOthers[] = {1013, 1019, 1021, 1031, 1033, 1039, 1049, 1051};

}  // namespace

std::vector<std::vector<TensorType>> probe_types(const std::vector<TensorType>& open,
                                                 const std::vector<TensorType>& now) {
  std::vector<TensorType> all = now, leading = now;
  // Equal dimensions vary together, except that the batch (the first unknown one) varies alone.
  int64_t batch = -1;
  std::map<int64_t, int64_t> others;
  bool any = false;
  for (size_t i = 0; i < open.size(); ++i) {
    for (size_t k = 0; k < open[i].shape.ndim(); ++k) {
      if (open[i].shape.dim(k) >= 0) continue;
      const int64_t size = now[i].shape.dim(k);
      if (size == 0 || open[i].sparse) return {};
      any = true;
      if (k == 0 && batch < 0) batch = size;
      if (k == 0 && size == batch) {
        all[i].shape.dims()[k] = leading[i].shape.dims()[k] = kBatch;
        continue;
      }
      if (!others.count(size) && others.size() == std::size(kOthers)) return {};
      all[i].shape.dims()[k] = others.try_emplace(size, kOthers[others.size()]).first->second;
    }
  }
  if (!any) return {};
  std::vector<std::vector<TensorType>> probes{std::move(all)};
  if (batch >= 0 && !others.empty()) probes.push_back(std::move(leading));
  return probes;
}

namespace {

class Opener {
 public:
  Opener(const Graph& a, const Graph& b, OpenGraph& to) : a_(a), b_(b), to_(to) {}

  bool run(std::string* why) {
    const bool ok = same_outline() && open_values() && open_nodes();
    if (!ok && why->empty()) *why = why_;
    return ok;
  }

 private:
  bool no(const std::string& why) {
    why_ = why;
    return false;
  }

  bool same_outline() {
    if (a_.values.size() != b_.values.size() || a_.nodes.size() != b_.nodes.size() ||
        a_.inputs != b_.inputs || a_.outputs != b_.outputs)
      return no("a graph with different nodes for other sizes");
    return true;
  }

  bool open_values() {
    Graph& g = to_.graph;
    g.values = a_.values;
    g.inputs = a_.inputs;
    g.outputs = a_.outputs;
    g.in_place = a_.in_place;
    g.stable = a_.stable;
    for (size_t i = 0; i < g.values.size(); ++i) {
      const TensorType &x = a_.values[i], &y = b_.values[i];
      if (x.dtype != y.dtype || x.sparse != y.sparse || x.shape.ndim() != y.shape.ndim())
        return no("types that differ for other sizes");
      if (x.shape == y.shape) continue;
      TensorType open = x;
      for (size_t k = 0; k < x.shape.ndim(); ++k)
        if (x.shape.dim(k) != y.shape.dim(k)) open.shape.dims()[k] = Shape::kUnknown;
      if (x.sparse) return no("a sparse matrix");
      g.values.set(i, std::move(open));
    }
    return true;
  }

  bool open_nodes() {
    for (size_t i = 0; i < a_.nodes.size(); ++i)
      if (!open_node(a_.nodes[i], b_.nodes[i])) return false;
    return true;
  }

  bool open_node(const GraphNode& x, const GraphNode& y) {
    const Primitive& p = primitive(x.prim);
    if (x.prim != y.prim || !(x.in == y.in) || !(x.out == y.out) ||
        x.bodies.size() != y.bodies.size())
      return no("a graph with different nodes for other sizes");
    GraphNode n = x;
    if (!p.equal(x.attrs.get(), y.attrs.get())) {
      if (x.prim == Prim::constant) return open_constant(x, y);
      if (!open_shape(p, n, y)) return false;
    }
    n.bodies.clear();
    for (size_t k = 0; k < x.bodies.size(); ++k) {
      OpenGraph body;
      std::string why;
      if (!Opener(*x.bodies[k], *y.bodies[k], body).run(&why)) return no(why);
      if (!body.extras.empty()) return no("a size inside of a loop or branch");
      n.bodies.push_back(std::make_shared<const Graph>(std::move(body.graph)));
    }
    to_.graph.nodes.push_back(std::move(n));
    return true;
  }

  /// A constant that depends on sizes becomes an input that the call supplies.
  bool open_constant(const GraphNode& x, const GraphNode& y) {
    const Array &a = x.as<attrs::constant>().value, &b = y.as<attrs::constant>().value;
    if (!(a.shape() == b.shape())) return no("a constant of another shape for other sizes");
    if (std::find(a_.outputs.begin(), a_.outputs.end(), x.out[0]) != a_.outputs.end())
      return no("a size that is a result");
    to_.graph.inputs.push_back(x.out[0]);
    to_.extras.push_back(a.contiguous());
    return true;
  }

  /// An attribute `shape`: a reshape can infer one size by itself; otherwise the whole shape becomes an operand.
  bool open_shape(const Primitive& p, GraphNode& n, const GraphNode& y) {
    const std::string differs = std::string("the attributes of ") + p.name;
    const Ints* here = p.ints(n.attrs.get(), "shape");
    const Ints* there = p.ints(y.attrs.get(), "shape");
    if (!here || here->size() != there->size() ||
        !p.equal(n.attrs.get(), p.with_ints(y.attrs.get(), "shape", *here).get()))
      return no(differs);
    Ints shape = *here;
    size_t open = 0;
    bool infers = false;
    for (size_t k = 0; k < shape.size(); ++k) {
      infers |= (*here)[k] == kInfer || (*there)[k] == kInfer || (*here)[k] == 0;
      if (shape[k] == (*there)[k]) continue;
      shape[k] = kFromOperand;
      ++open;
    }
    if (infers) return no(differs);
    if (n.prim == Prim::reshape && open == 1) {
      *std::find(shape.begin(), shape.end(), kFromOperand) = kInfer;
    } else {
      n.in.push_back(shape_input(*here, *there));
    }
    n.attrs = p.with_ints(n.attrs.get(), "shape", shape);
    return true;
  }

  ValueId shape_input(const Ints& here, const Ints& there) {
    const auto [it, fresh] = shapes_.try_emplace({Key(here), Key(there)}, kNoValue);
    if (fresh) {
      const auto rank = static_cast<int64_t>(here.size());
      it->second = to_.graph.add_value(TensorType(DType::int64, Shape(Ints{rank})));
      to_.graph.inputs.push_back(it->second);
      to_.extras.push_back(
          Array::of<int64_t>(std::span<const int64_t>(here.data(), here.size()), Ints{rank}));
    }
    return it->second;
  }

  struct Key : std::vector<int64_t> {
    explicit Key(const Ints& v) : std::vector<int64_t>(v.begin(), v.end()) {}
  };
  const Graph &a_, &b_;
  OpenGraph& to_;
  std::map<std::pair<Key, Key>, ValueId> shapes_;
  std::string why_;
};

}  // namespace

std::optional<OpenGraph> open_dims(const Graph& now, const Graph& probe, std::string* why) {
  OpenGraph open;
  if (!Opener(now, probe, open).run(why)) return std::nullopt;
  return open;
}

std::shared_ptr<Compiled> OpenParts::get(const Graph& graph,
                                         const std::function<std::shared_ptr<Compiled>()>& compile,
                                         bool* is_new) {
  // If two new sizes are planned at once, the second waits for what the first compiles.
  std::lock_guard lock(mutex_);
  std::erase_if(entries_, [](const Entry& e) { return e.compiled.expired(); });
  *is_new = false;
  for (const Entry& e : entries_)
    if (auto compiled = e.compiled.lock(); compiled && same_graph(e.graph, graph)) return compiled;
  *is_new = true;
  auto compiled = compile();
  entries_.push_back({graph, compiled});
  return compiled;
}

}  // namespace horngate
