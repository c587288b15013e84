// Verifier and printers of graphs.
#include "ir/graph.h"

#include "ir/attrs_text.h"
#include "ir/check.h"
#include "ir/primitive.h"

namespace horngate {
namespace {

/// Attributes as "axis=1, keepdims=true".
class AttrText final : public AttrVisitor {
 public:
  std::string text;
  void operator()(const char* n, const int64_t& v) override { add(n, text_of(v)); }
  void operator()(const char* n, const double& v) override { add(n, text_of(v)); }
  void operator()(const char* n, const bool& v) override { add(n, text_of(v)); }
  void operator()(const char* n, const DType& v) override { add(n, text_of(v)); }
  void operator()(const char* n, const Text& v) override { add(n, "\"" + v + "\""); }
  void operator()(const char* n, const Ints& v) override {
    std::string s = "(";
    for (size_t i = 0; i < v.size(); ++i) {
      if (i) s += ", ";
      s += v[i] == kFromOperand ? "?" : v[i] == kToEnd ? "end" : std::to_string(v[i]);
    }
    add(n, s + ")");
  }
  void operator()(const char* n, const Array& v) override {
    add(n, v.size() <= 8 ? v.str() : "...");
  }

 private:
  void add(const char* name, const std::string& value) {
    if (!text.empty()) text += ", ";
    text += text_of(name, "=", value);
  }
};

}  // namespace

std::string attrs_text(const GraphNode& n) {
  AttrText t;
  primitive(n.prim).visit(n.attrs.get(), t);
  return t.text;
}

namespace {

void print_into(std::string& out, const Graph& g, const std::string& indent) {
  const auto list = [&](const auto& ids) {
    std::string s;
    for (size_t i = 0; i < ids.size(); ++i) s += text_of(i ? ", %" : "%", ids[i]);
    return s;
  };
  for (ValueId v : g.inputs) out += text_of(indent, "%", v, " = input : ", g.values[v].str(), "\n");
  for (const GraphNode& n : g.nodes) {
    const std::string a = attrs_text(n);
    out += text_of(indent, list(n.out), " = ", primitive(n.prim).name, "(", list(n.in),
                   a.empty() ? "" : "; ", a, ")");
    for (size_t i = 0; i < n.out.size(); ++i)
      out += text_of(i ? ", " : " : ", g.values[n.out[i]].str());
    if (n.name) out += "  # " + *n.name;
    out += '\n';
    for (const GraphRef& b : n.bodies) {
      out += indent + "  {\n";
      print_into(out, *b, indent + "    ");
      out += indent + "  }\n";
    }
  }
  out += text_of(indent, "return ", list(g.outputs), "\n");
}

bool same_name(const GraphNode& a, const GraphNode& b) {
  return a.name.function == b.name.function &&
         ((!a.name && !b.name) || (a.name && b.name && *a.name == *b.name));
}

}  // namespace

uint32_t ValueTypes::number_of(TensorType type) {
  // Usually the same as that of the value before.
  if (!which_.empty() && types_[which_.back()] == type) return which_.back();
  uint64_t h = static_cast<uint64_t>(type.dtype) * 2 + type.sparse;
  for (int64_t d : type.shape.dims())
    h = (h ^ static_cast<uint64_t>(d)) * 0x9e3779b97f4a7c15ull ^ (h >> 29);
  const uint32_t known = table_.find(h, [&](uint32_t i) { return types_[i] == type; });
  if (known != NumberTable::kNone) return known;
  const auto fresh = static_cast<uint32_t>(types_.size());
  types_.push_back(std::move(type));
  table_.insert(h, fresh);
  return fresh;
}

bool operator==(const ValueTypes& a, const ValueTypes& b) {
  if (a.size() != b.size()) return false;
  if (a.types_ == b.types_) return a.which_ == b.which_;  // numbers are in order of first use
  for (size_t v = 0; v < a.size(); ++v)
    if (!(a[v] == b[v])) return false;
  return true;
}

bool same_graph(const Graph& a, const Graph& b) {
  if (!(a.values == b.values) || a.inputs != b.inputs || a.outputs != b.outputs ||
      a.in_place != b.in_place || a.stable != b.stable || a.nodes.size() != b.nodes.size())
    return false;
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    const GraphNode &x = a.nodes[i], &y = b.nodes[i];
    // Names matter too, because errors show them.
    if (x.prim != y.prim || !(x.in == y.in) || !(x.out == y.out) || !same_name(x, y) ||
        !primitive(x.prim).equal(x.attrs.get(), y.attrs.get()) ||
        x.bodies.size() != y.bodies.size())
      return false;
    for (size_t k = 0; k < x.bodies.size(); ++k)
      if (!same_graph(*x.bodies[k], *y.bodies[k])) return false;
  }
  return true;
}

std::string print_text(const Graph& graph) {
  std::string out;
  print_into(out, graph, "");
  return out;
}

std::string print_dot(const Graph& g) {
  std::string out = "digraph horngate {\n  node [shape=box, fontname=\"monospace\"];\n";
  std::vector<std::string> maker(g.values.size());
  const auto quoted = [](std::string s) {
    std::string q;
    for (char c : s) {
      if (c == '"' || c == '\\') q += '\\';
      q += c;
    }
    return q;
  };
  for (size_t i = 0; i < g.inputs.size(); ++i) {
    maker[g.inputs[i]] = text_of("i", i);
    out += text_of("  i", i, " [label=\"input ", i, "\\n", g.values[g.inputs[i]].str(),
                   "\", style=rounded];\n");
  }
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const GraphNode& n = g.nodes[i];
    out += text_of("  n", i, " [label=\"", primitive(n.prim).name, "\\n", quoted(attrs_text(n)),
                   "\"];\n");
    for (ValueId v : n.out) maker[v] = text_of("n", i);
    for (ValueId v : n.in)
      out += text_of("  ", maker[v], " -> n", i, " [label=\"", g.values[v].str(), "\"];\n");
  }
  for (size_t i = 0; i < g.outputs.size(); ++i)
    out += text_of("  o", i, " [label=\"output ", i, "\", style=rounded];\n  ", maker[g.outputs[i]],
                   " -> o", i, ";\n");
  return out + "}\n";
}

void verify(const Graph& g, std::string_view after_pass) {
  std::vector<uint8_t> made(g.values.size(), 0);
  const auto use = [&](ValueId v, std::string_view where) {
    invariant(v < g.values.size(), "after ", after_pass, ": ", where, " uses value %", v,
              ", which does not exist");
    invariant(made[v], "after ", after_pass, ": ", where, " uses value %", v, " before it is made");
  };
  const auto make = [&](ValueId v, std::string_view where) {
    invariant(v < g.values.size() && !made[v], "after ", after_pass, ": ", where, " makes value %",
              v, " again");
    made[v] = 1;
  };
  for (ValueId v : g.inputs) make(v, "input");
  for (const GraphNode& n : g.nodes) {
    const Primitive& p = primitive(n.prim);
    for (ValueId v : n.in) use(v, p.name);
    for (ValueId v : n.out) make(v, p.name);
    for (const GraphRef& b : n.bodies) verify(*b, after_pass);
    if (!n.bodies.empty()) continue;
    SmallVec<TensorType, 4> types;
    for (ValueId v : n.in) types.push_back(g.values[v]);
    const Types out = p.infer(InferCall{{types.data(), types.size()}, {}}, n.attrs.get());
    invariant(out.size() == n.out.size(), "after ", after_pass, ": ", p.name, " has ", n.out.size(),
              " results");
    for (size_t i = 0; i < out.size(); ++i)
      invariant(out[i].dtype == g.values[n.out[i]].dtype &&
                    out[i].shape.ndim() == g.values[n.out[i]].shape.ndim(),
                "after ", after_pass, ": ", p.name, " gives ", out[i].str(), " but the graph says ",
                g.values[n.out[i]].str());
  }
  for (ValueId v : g.outputs) use(v, "output");
}

}  // namespace horngate
