// Converts between our graphs and the C form of engine.h.
#include "ir/abi.h"

#include <cstring>
#include <deque>

#include "ir/check.h"
#include "ir/primitive.h"

namespace horngate {
namespace {

template <class T>
std::vector<const T*> pointers_to(const std::vector<T>& all) {
  std::vector<const T*> list;
  list.reserve(all.size());
  for (const T& x : all) list.push_back(&x);
  return list;
}

}  // namespace

struct CGraph::Impl final : AttrVisitor {
  hg_graph graph{};
  std::vector<hg_type> types;
  std::vector<const hg_type*> type_list;
  std::vector<hg_node> nodes;
  std::vector<const hg_node*> node_list;
  std::deque<hg_attr> attrs;
  std::vector<const hg_attr*> attr_list;  // of all nodes, one after the other
  std::vector<std::unique_ptr<CGraph>> bodies;
  std::vector<std::vector<const hg_graph*>> body_pointers;
  std::deque<int64_t> numbers;
  std::deque<int32_t> dtypes;
  std::deque<hg_type> buffer_types;
  std::deque<hg_buffer> buffers;

  void add(const char* key, int32_t kind, size_t n, const void* data) {
    attrs.push_back({sizeof(hg_attr), kind, key, static_cast<uint32_t>(n), data});
    attr_list.push_back(&attrs.back());
  }
  void operator()(const char* k, const int64_t& v) override { add(k, HG_ATTR_I64, 1, &v); }
  void operator()(const char* k, const double& v) override { add(k, HG_ATTR_F64, 1, &v); }
  void operator()(const char* k, const bool& v) override {
    numbers.push_back(v);
    add(k, HG_ATTR_I64, 1, &numbers.back());
  }
  void operator()(const char* k, const DType& v) override {
    dtypes.push_back(static_cast<int32_t>(v));
    add(k, HG_ATTR_TYPE, 1, &dtypes.back());
  }
  void operator()(const char* k, const Text& v) override {
    add(k, HG_ATTR_TEXT, v.size(), v.c_str());
  }
  void operator()(const char* k, const Ints& v) override {
    add(k, HG_ATTR_I64, v.size(), v.data());
  }
  void operator()(const char* k, const Array& v) override {
    buffer_types.push_back({sizeof(hg_type), 0, static_cast<int32_t>(v.dtype()),
                            static_cast<int32_t>(v.ndim()), v.dims().data()});
    buffers.push_back(buffer_of(buffer_types.back(), v.nbytes(), v.raw()));
    add(k, HG_ATTR_BUFFER, 1, &buffers.back());
  }

  void convert(const Graph& g) {
    types.reserve(g.values.size());
    for (const TensorType& t : g.values) types.push_back(c_type(t));
    for (uint32_t i : g.stable) types[g.inputs[i]].flags |= HG_TYPE_STABLE;
    type_list = pointers_to(types);
    nodes.reserve(g.nodes.size());
    for (const GraphNode& n : g.nodes) {
      const Primitive& p = primitive(n.prim);
      const size_t first = attr_list.size();
      p.visit(n.attrs.get(), *this);
      hg_node c{};
      c.size = sizeof(hg_node);
      c.prim = p.name;
      c.name = n.name ? n.name->c_str() : nullptr;
      c.function = n.name.function;
      c.n_in = static_cast<uint32_t>(n.in.size());
      c.n_out = static_cast<uint32_t>(n.out.size());
      c.n_attr = static_cast<uint32_t>(attr_list.size() - first);
      c.n_body = static_cast<uint32_t>(n.bodies.size());
      c.in = n.in.data();
      c.out = n.out.data();
      if (!n.bodies.empty()) {
        body_pointers.emplace_back();
        for (const GraphRef& b : n.bodies) {
          bodies.push_back(std::make_unique<CGraph>(*b));
          body_pointers.back().push_back(bodies.back()->get());
        }
        c.body = body_pointers.back().data();
      }
      nodes.push_back(c);
    }
    // Only now, when the list no longer grows, do pointers into it stay valid.
    const hg_attr* const* next = attr_list.data();
    for (hg_node& n : nodes) {
      n.attr = next;
      next += n.n_attr;
    }
    node_list = pointers_to(nodes);
    graph = {sizeof(hg_graph),
             static_cast<uint32_t>(types.size()),
             static_cast<uint32_t>(nodes.size()),
             static_cast<uint32_t>(g.inputs.size()),
             static_cast<uint32_t>(g.outputs.size()),
             type_list.data(),
             node_list.data(),
             g.inputs.data(),
             g.outputs.data(),
             static_cast<uint32_t>(g.in_place.size() / 2),
             g.in_place.data()};
  }
};

CGraph::CGraph(const Graph& graph) : impl_(std::make_unique<Impl>()) { impl_->convert(graph); }
CGraph::~CGraph() = default;
const hg_graph* CGraph::get() const { return &impl_->graph; }

TensorType import_type(const hg_type& t) {
  return TensorType(static_cast<DType>(t.dtype), Shape(Ints(t.dims, t.dims + t.rank)),
                    t.flags & HG_TYPE_SPARSE);
}

hg_type c_type(const TensorType& t) {
  return {sizeof(hg_type), t.sparse ? uint32_t{HG_TYPE_SPARSE} : 0u, static_cast<int32_t>(t.dtype),
          static_cast<int32_t>(t.shape.ndim()), t.shape.dims().data()};
}

hg_buffer buffer_of(const hg_type& type, size_t bytes, void* data) {
  return {sizeof(hg_buffer), &type, data, bytes, nullptr, nullptr, 0};
}

namespace {

class Reader final : public AttrReader {
 public:
  explicit Reader(const hg_node& node) : node_(node) {}
  void operator()(const char* k, int64_t& v) override {
    if (const hg_attr* a = find(k, HG_ATTR_I64)) v = static_cast<const int64_t*>(a->data)[0];
  }
  void operator()(const char* k, double& v) override {
    if (const hg_attr* a = find(k, HG_ATTR_F64)) v = static_cast<const double*>(a->data)[0];
  }
  void operator()(const char* k, bool& v) override {
    if (const hg_attr* a = find(k, HG_ATTR_I64)) v = static_cast<const int64_t*>(a->data)[0] != 0;
  }
  void operator()(const char* k, DType& v) override {
    if (const hg_attr* a = find(k, HG_ATTR_TYPE))
      v = static_cast<DType>(*static_cast<const int32_t*>(a->data));
  }
  void operator()(const char* k, Text& v) override {
    if (const hg_attr* a = find(k, HG_ATTR_TEXT)) v.assign(static_cast<const char*>(a->data), a->n);
  }
  void operator()(const char* k, Ints& v) override {
    if (const hg_attr* a = find(k, HG_ATTR_I64)) {
      const auto* p = static_cast<const int64_t*>(a->data);
      v = Ints(p, p + a->n);
    }
  }
  void operator()(const char* k, Array& v) override {
    if (const hg_attr* a = find(k, HG_ATTR_BUFFER)) {
      const auto* b = static_cast<const hg_buffer*>(a->data);
      const TensorType t = import_type(*b->type);
      // Copied: the graph is only borrowed during compile.
      v = Array::view(b->data, t.dtype, t.shape.dims()).copy();
    }
  }

 private:
  const hg_attr* find(const char* key, int32_t kind) const {
    for (uint32_t i = 0; i < node_.n_attr; ++i)
      if (std::strcmp(node_.attr[i]->key, key) == 0) {
        check<TypeError>(node_.attr[i]->kind == kind, node_.prim, "attribute ", key,
                         " is not of the expected kind.");
        return node_.attr[i];
      }
    return nullptr;
  }
  const hg_node& node_;
};

}  // namespace

Graph import_graph(const hg_graph& c) {
  Graph g;
  g.values.reserve(c.n_value);
  for (uint32_t i = 0; i < c.n_value; ++i) g.values.push_back(import_type(*c.value[i]));
  g.inputs.assign(c.in, c.in + c.n_in);
  g.outputs.assign(c.out, c.out + c.n_out);
  for (uint32_t i = 0; i < c.n_in; ++i)
    if (c.value[c.in[i]]->flags & HG_TYPE_STABLE) g.stable.push_back(i);
  g.in_place.assign(c.in_place, c.in_place + 2 * size_t{c.n_in_place});
  g.nodes.reserve(c.n_node);
  for (uint32_t i = 0; i < c.n_node; ++i) {
    const hg_node& n = *c.node[i];
    const std::optional<Prim> prim = find_primitive(n.prim);
    check<NotImplementedError>(prim.has_value(), "engine", "there is no primitive \"", n.prim,
                               "\".");
    GraphNode node{*prim, {}, {}, {}, {}, nullptr};
    node.in = SmallVec<ValueId, 4>(n.in, n.in + n.n_in);
    node.out = SmallVec<ValueId, 1>(n.out, n.out + n.n_out);
    if (n.n_attr) {
      Reader reader(n);
      node.attrs = primitive(*prim).read(reader);
    }
    for (uint32_t b = 0; b < n.n_body; ++b)
      node.bodies.push_back(std::make_shared<const Graph>(import_graph(*n.body[b])));
    if (n.name) node.name.set_text(n.name);
    node.name.function = n.function;
    g.nodes.push_back(std::move(node));
  }
  return g;
}

}  // namespace horngate
