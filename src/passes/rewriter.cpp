// Rewriter: building, and common subexpressions. The local rules are in simplify.cpp.
#include "passes/rewriter.h"

#include <bit>

#include "ir/checked.h"
#include "ir/interrupt.h"

namespace horngate {
namespace {

class AttrHash final : public AttrVisitor {
 public:
  uint64_t h = 1469598103934665603ull;
  void mix(uint64_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15ull ^ (h >> 29); }
  void operator()(const char*, const int64_t& v) override { mix(static_cast<uint64_t>(v)); }
  void operator()(const char*, const double& v) override { mix(std::bit_cast<uint64_t>(v)); }
  void operator()(const char*, const bool& v) override { mix(v); }
  void operator()(const char*, const DType& v) override { mix(static_cast<uint64_t>(v)); }
  void operator()(const char*, const Text& v) override { mix(std::hash<std::string>()(v)); }
  void operator()(const char*, const Ints& v) override {
    for (int64_t i : v) mix(static_cast<uint64_t>(i));
  }
  void operator()(const char*, const Array& v) override {
    // Small constants are merged by content, large ones only by identity.
    if (v.nbytes() <= 64 && v.is_contiguous())
      for (size_t i = 0; i < v.nbytes(); ++i) mix(static_cast<const uint8_t*>(v.raw())[i]);
    else
      mix(reinterpret_cast<uint64_t>(v.raw()));
  }
};

}  // namespace

uint64_t hash_attrs(Prim prim, const Attrs* attrs) {
  AttrHash h;
  h.mix(static_cast<uint64_t>(prim));
  primitive(prim).visit(attrs, h);
  return h.h;
}

void Rewriter::reserve(const Graph& like) {
  graph.values.reserve(like.values.size());
  graph.nodes.reserve(like.nodes.size());
  maker_.reserve(like.values.size());
  by_hash_.reserve(like.nodes.size());
}

Graph Rewriter::finish(std::vector<ValueId> outputs) {
  by_hash_ = {};
  maker_ = {};
  graph.outputs = std::move(outputs);
  return std::move(graph);
}

ValueId Rewriter::input(const TensorType& type) {
  const ValueId v = graph.add_value(type);
  graph.inputs.push_back(v);
  maker_.resize(graph.values.size(), -1);
  return v;
}

const GraphNode* Rewriter::maker(ValueId v) const {
  return maker_[v] < 0 ? nullptr : &graph.nodes[static_cast<size_t>(maker_[v])];
}

bool Rewriter::scalar_constant(ValueId v, double* value) const {
  const GraphNode* n = maker(v);
  while (n &&
         (n->prim == Prim::broadcast || n->prim == Prim::expand_dims || n->prim == Prim::reshape))
    n = maker(n->in[0]);
  if (!n || n->prim != Prim::constant || n->as<attrs::constant>().value.size() != 1) return false;
  *value = n->as<attrs::constant>().value.item<double>();
  return true;
}

Types Rewriter::infer(const GraphNode& node) const {
  SmallVec<TensorType, 4> in;
  for (ValueId v : node.in) in.push_back(graph.values[v]);
  const Primitive& p = primitive(node.prim);
  Types out = p.infer(InferCall{{in.data(), in.size()}, {}}, node.attrs.get());
  for (const TensorType& t : out) check_size(p.name, t);
  return out;
}

ValueId Rewriter::emit(Prim prim, SmallVec<ValueId, 4> in, AttrRef attrs) {
  GraphNode n{prim, std::move(in), {}, std::move(attrs), {}, nullptr};
  const Types types = infer(n);
  return emit(std::move(n), types)[0];
}

void Rewriter::copy(const Graph& from, const GraphNode& node, std::vector<ValueId>& now) {
  GraphNode made = node;
  for (ValueId& v : made.in) v = now[v];
  Types types;
  for (ValueId v : node.out) types.push_back(from.values[v]);
  const SmallVec<ValueId, 1> out = emit(std::move(made), types);
  for (size_t i = 0; i < node.out.size(); ++i) now[node.out[i]] = out[i];
}

ValueId Rewriter::constant(const Array& value) { return emit(attrs::constant{.value = value}, {}); }

ValueId Rewriter::own_constant(const Array& value) {
  GraphNode n{Prim::constant, {}, {}, AttrRef(new AttrsOf<attrs::constant>({.value = value})), {},
              nullptr};
  n.out.push_back(graph.add_value(TensorType(value.dtype(), value.shape())));
  maker_.push_back(static_cast<int32_t>(graph.nodes.size()));
  graph.nodes.push_back(std::move(n));
  return graph.nodes.back().out[0];
}

SmallVec<ValueId, 1> Rewriter::emit(GraphNode node, const Types& types) {
  stop_if_asked();
  if (types.size() == 1 && simplifies_) {
    const ValueId same = simplify(node, types);
    if (same != kNoValue) return {same};
  }
  const Primitive& p = primitive(node.prim);  // simplifying may have made another of it
  const bool mergeable = merges_ && !(p.flags & kEffect) && node.bodies.empty();
  uint64_t h = 0;
  if (mergeable) {
    h = hash_attrs(node.prim, node.attrs.get());
    for (ValueId v : node.in) h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    const uint32_t same = by_hash_.find(h, [&](uint32_t i) {
      const GraphNode& other = graph.nodes[i];
      return other.prim == node.prim && other.in == node.in &&
             p.equal(other.attrs.get(), node.attrs.get());
    });
    if (same != NumberTable::kNone) return graph.nodes[same].out;
  }
  const auto index = static_cast<int32_t>(graph.nodes.size());
  node.out.clear();
  for (const TensorType& t : types) {
    node.out.push_back(graph.add_value(t));
    maker_.push_back(index);
  }
  if (mergeable) by_hash_.insert(h, static_cast<uint32_t>(index));
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().out;
}

}  // namespace horngate
