// From nodes to a dense graph, with an explicit stack: recursion only over nested bodies, never over depth.
#include "ir/to_graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/check.h"
#include "ir/interrupt.h"
#include "ir/node_index.h"
#include "ir/primitive.h"
#include "ir/tensor_key.h"

namespace horngate {
namespace {

class Builder {
 public:
  Graph graph;
  std::vector<VariableRef> variables;
  std::vector<DrawRef> draws;

  /// Cuts the graph at t, which becomes the next input.
  void cut(const Tensor& t) {
    const ValueId v = graph.add_value(type_of(t));
    graph.inputs.push_back(v);
    seen(t.node()).is_cut = true;
    cuts_[key_of(t)] = v;
    // Every handle of a fed variable stands for the fed value.
    if (t.node()->prim == Prim::variable)
      by_state_[t.node()->as<attrs::variable>().state.get()] = v;
  }

  /// Emits all that the roots need. The updates of each variable are chained in their order.
  void build(const Tensors& roots, const Tensors& updates) {
    order_assigns(roots, updates);
    Tensors all = roots;
    all.insert(all.end(), updates.begin(), updates.end());
    for (const auto& [state, last] : last_assign_) all.push_back(Tensor::share(last));
    sort(all);
    for (const Node* n : order_)
      if (n->prim == Prim::tape) note_tape(*n);
    for (const Node* n : order_) {
      stop_if_asked();
      emit(*n);
    }
    add_fed_variables();
    // Variables and draws become inputs after the fed ones, in order of first use.
    for (ValueId v : variable_values_) graph.inputs.push_back(v);
    for (ValueId v : draw_values_) graph.inputs.push_back(v);
  }

  /// Names of variables that are set although an earlier update in the same function gave them a value that
  /// nothing then reads.
  std::vector<std::string> overwritten() const {
    std::vector<std::string> names;
    for (const auto& [assign, before] : previous_)
      if (assign->as<attrs::assign>().kind == "set" && !assign->in[1].same_as(before->in[1]) &&
          !depends(assign->in[1].node(), before))
        names.push_back(display_name(*assign->in[0].node()));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  ValueId value(const Tensor& t) const {
    const uint32_t at = index_.find(t.node());
    invariant(at != NodeIndex::kNone, "a value is needed before it is made");
    const Seen& s = seen_[at];
    if (s.is_cut)
      if (const auto it = cuts_.find(key_of(t)); it != cuts_.end()) return it->second;
    invariant(s.first != kNoValue, "a value is needed before it is made");
    return s.first + t.index();
  }

  std::vector<std::pair<uint32_t, ValueId>> updated() const {
    std::vector<std::pair<uint32_t, ValueId>> out;
    for (size_t i = 0; i < variables.size(); ++i) {
      const auto it = last_assign_.find(variables[i].get());
      if (it != last_assign_.end()) out.emplace_back(i, value(Tensor::share(it->second)));
    }
    return out;
  }

 private:
  /// Whether a value is computed from an assign. Operands are older than their users, so older nodes are
  /// skipped.
  static bool depends(const Node* value, const Node* on) {
    std::unordered_set<const Node*> seen{value};
    std::vector<const Node*> stack{value};
    while (!stack.empty()) {
      const Node* n = stack.back();
      stack.pop_back();
      if (n == on) return true;
      for (const Tensor& t : n->in)
        if (t.node()->id >= on->id && (t.node()->flags & kHasEffect) &&
            seen.insert(t.node()).second)
          stack.push_back(t.node());
    }
    return false;
  }

  /// A fed variable is not read by the graph, but its update needs a place among the variables.
  void add_fed_variables() {
    std::unordered_set<const VariableState*> read;
    for (const VariableRef& v : variables) read.insert(v.get());
    std::vector<const Node*> fed;
    for (const auto& [state, assign] : last_assign_)
      if (!read.count(state)) fed.push_back(assign->in[0].node());
    std::sort(fed.begin(), fed.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
    for (const Node* n : fed) {
      variable_values_.push_back(graph.add_value(n->out[0]));
      variables.push_back(n->as<attrs::variable>().state);
    }
  }

  /// What is known of a node: how far the walk is with it, and its first value; its other results follow that
  /// one.
  struct Seen {
    enum State : uint8_t { fresh, open, done } state = fresh;
    bool is_cut = false;  // some results are inputs
    ValueId first = kNoValue;
  };

  Seen& seen(const Node* n) {
    uint32_t& at = index_[n];
    if (at == NodeIndex::kNone) {
      at = static_cast<uint32_t>(seen_.size());
      seen_.emplace_back();
    }
    return seen_[at];
  }

  /// Whether the graph is cut at t.
  bool known(const Tensor& t) const {
    const uint32_t at = index_.find(t.node());
    return at != NodeIndex::kNone && seen_[at].is_cut && cuts_.count(key_of(t)) != 0;
  }

  /// Finds the assigns that the roots reach and links those of each variable: the listed ones first, in list
  /// order, then the others by age.
  void order_assigns(const Tensors& roots, const Tensors& updates) {
    std::vector<const Node*> assigns;
    NodeIndex listed_already, visited;
    const auto is_new = [](NodeIndex& set, const Node* n) {
      return std::exchange(set[n], 0) == NodeIndex::kNone;
    };
    for (const Tensor& u : updates)
      if (u.node()->prim == Prim::assign && is_new(listed_already, u.node()))
        assigns.push_back(u.node());
    const size_t listed = assigns.size();
    std::vector<const Node*> stack;
    const auto push = [&](const Tensor& t) {
      // Nodes without an effect reach no assign.
      if ((t.node()->flags & kHasEffect) && !known(t) && is_new(visited, t.node()))
        stack.push_back(t.node());
    };
    for (const Tensor& r : roots) push(r);
    for (const Tensor& u : updates) push(u);
    while (!stack.empty()) {
      stop_if_asked();
      const Node* n = stack.back();
      stack.pop_back();
      if (n->prim == Prim::assign && is_new(listed_already, n)) assigns.push_back(n);
      for (const Tensor& t : n->in) push(t);
    }
    std::sort(assigns.begin() + static_cast<int64_t>(listed), assigns.end(),
              [](const Node* a, const Node* b) { return a->id < b->id; });
    for (const Node* n : assigns) {
      const VariableState* state = state_of(*n);
      place_.emplace(n, place_.size());
      if (const auto it = last_assign_.find(state); it != last_assign_.end())
        previous_[n] = it->second;
      last_assign_[state] = n;
    }
  }

  static const VariableState* state_of(const Node& assign) {
    const Node& v = *assign.in[0].node();
    check<TypeError>(v.prim == Prim::variable, "update",
                     "the first argument must be a variable; got \"", display_name(v), "\".");
    return v.as<attrs::variable>().state.get();
  }

  /// Topological order by depth-first search; an assign also waits for the one before it in its chain.
  void sort(const Tensors& roots) {
    struct Frame {
      const Node* node;
      size_t next;
    };
    std::vector<Frame> stack;
    const auto enter = [&](const Node* n, uint32_t index) {
      Seen& s = seen(n);
      if (s.is_cut && cuts_.count({n, index})) return;
      check(s.state != Seen::open, "function", "the updates depend on each other in a cycle (at \"",
            display_name(*n), "\").");
      if (s.state == Seen::done) return;
      s.state = Seen::open;
      stack.push_back({n, 0});
    };
    for (const Tensor& r : roots) {
      enter(r.node(), r.index());
      while (!stack.empty()) {
        stop_if_asked();
        Frame& f = stack.back();
        const Node* n = f.node;
        if (f.next < n->in.size()) {
          const Tensor& t = n->in[f.next++];
          enter(t.node(), t.index());
        } else if (const auto it = previous_.find(n);
                   f.next == n->in.size() && it != previous_.end()) {
          ++f.next;
          enter(it->second, 0);
        } else {
          seen(n).state = Seen::done;
          order_.push_back(n);
          stack.pop_back();
        }
      }
    }
  }

  void note_tape(const Node& tape) {
    const Tensor& inner = tape.as<attrs::tape>().inner.tensor;
    Tensors& list = tapes_[tape.in[0].node()];
    for (const Tensor& t : list)
      if (t.same_as(inner)) return;
    list.push_back(inner);
  }

  // The type is passed by value, since it may lie in the table that grows here.
  ValueId add_node(Prim prim, SmallVec<ValueId, 4> in, TensorType type, const NodeName& name = {},
                   AttrRef attrs = {}) {
    GraphNode n{prim, std::move(in), {graph.add_value(std::move(type))}, std::move(attrs),
                {},   name};
    graph.nodes.push_back(std::move(n));
    return graph.nodes.back().out[0];
  }

  ValueId add_scalar(double value, DType dtype) {
    return add_node(
        Prim::constant, {}, TensorType(dtype, {}), {},
        AttrRef(new AttrsOf<attrs::constant>({.value = Array::full(dtype, {}, value)})));
  }

  void set(const Node& n, ValueId v) { seen(&n).first = v; }

  void emit(const Node& n) {
    switch (n.prim) {
      case Prim::placeholder:
        fail("function", "placeholder \"", display_name(n), "\" of shape ", n.out[0].shape,
             " is needed but not among the inputs.");
      case Prim::parameter:
        fail("function", "a tensor of a step function is used outside it (\"", display_name(n),
             "\").");
      case Prim::variable: return emit_variable(n);
      case Prim::draw: {
        const ValueId v = graph.add_value(n.out[0]);
        draw_values_.push_back(v);
        draws.push_back(n.as<attrs::draw>().state);
        return set(n, v);
      }
      case Prim::assign: return emit_assign(n);
      case Prim::after: return emit_after(n);
      case Prim::tape: {
        const Node* scan = n.in[0].node();
        const Tensors& list = tapes_.at(scan);
        size_t i = 0;
        while (!list[i].same_as(n.as<attrs::tape>().inner.tensor)) ++i;
        return set(n, tape_values_.at(scan)[i]);
      }
      default: return emit_plain(n);
    }
  }

  void emit_variable(const Node& n) {
    const VariableRef& state = n.as<attrs::variable>().state;
    // Several nodes may stand for one variable (copies of the handle in bodies), but it is one input.
    const auto [it, fresh] = by_state_.try_emplace(state.get(), kNoValue);
    if (fresh) {
      it->second = graph.add_value(n.out[0]);
      variable_values_.push_back(it->second);
      variables.push_back(state);
    }
    set(n, it->second);
  }

  void emit_assign(const Node& n) {
    const auto& a = n.as<attrs::assign>();
    const auto it = previous_.find(&n);
    const ValueId running = value(it == previous_.end() ? n.in[0] : Tensor::share(it->second));
    ValueId x = value(n.in[1]);
    const TensorType& type = n.out[0];
    // The node stays until a plan is made, where dimensions unknown here can be checked.
    if (!graph.values[x].shape.is_static())
      x = add_node(Prim::assign, {running, x}, type, n.name, n.attrs);
    if (a.kind == "set") return set(n, x);
    if (a.kind == "add") return set(n, add_node(Prim::add, {running, x}, type, n.name));
    if (a.kind == "sub") return set(n, add_node(Prim::sub, {running, x}, type, n.name));
    const ValueId kept = add_node(Prim::mul, {running, add_scalar(a.momentum, type.dtype)}, type);
    const ValueId fresh =
        add_node(Prim::mul, {x, add_scalar(1.0 - a.momentum, type.dtype)}, graph.values[x]);
    set(n, add_node(Prim::add, {kept, fresh}, type, n.name));
  }

  void emit_after(const Node& n) {
    const Node& x = *n.in[0].node();
    ValueId v = value(n.in[0]);
    if (x.prim == Prim::variable)
      if (const Node* last = last_reached(n, x.as<attrs::variable>().state.get()))
        v = value(Tensor::share(last));
    set(n, v);
  }

  /// The last update of the variable, in chain order, on which `after` depends, directly or through what it waits for;
  /// null if there is none.
  const Node* last_reached(const Node& after, const VariableState* state) {
    const Node* last = nullptr;
    std::unordered_set<const Node*> visited;
    std::vector<const Node*> stack;
    const auto push = [&](const Tensor& t) {
      if ((t.node()->flags & kHasEffect) && visited.insert(t.node()).second)
        stack.push_back(t.node());
    };
    const auto place =
        [&](const Node* assign) {  // updates that are fed, or captured by a body, have no place
          const auto it = place_.find(assign);
          return it == place_.end() ? 0 : it->second + 1;
        };
    for (size_t i = after.in.size(); i-- > 1;) push(after.in[i]);
    while (!stack.empty()) {
      const Node* n = stack.back();
      stack.pop_back();
      if (n->prim == Prim::assign && state_of(*n) == state && (!last || place(n) >= place(last)))
        last = n;
      if (!known(Tensor::share(n)))
        for (const Tensor& t : n->in) push(t);
    }
    return last;
  }

  void emit_plain(const Node& n) {
    GraphNode g{n.prim, {}, {}, n.attrs, {}, n.name};
    const bool has_bodies = !n.bodies.empty();
    const size_t first = has_bodies ? first_capture(n) : 0;
    for (size_t i = 0; i < n.in.size(); ++i)
      if (!has_bodies || i < first || !stands_in_body(n.in[i])) g.in.push_back(value(n.in[i]));
    const Tensors* tapes = nullptr;
    if (const auto it = tapes_.find(&n); it != tapes_.end()) tapes = &it->second;
    for (const BodyRef& b : n.bodies)
      g.bodies.push_back(body_graph(*b, tapes, n.prim == Prim::scan));
    if (tapes) extend_scan(n, *tapes, &g);
    for (const TensorType& type : n.out) g.out.push_back(graph.add_value(type));
    if (!g.out.empty()) set(n, g.out[0]);
    if (tapes)
      for (const Tensor& t : *tapes) {
        TensorType type = type_of(t);
        type.shape.dims().insert(type.shape.dims().begin(), Shape::kUnknown);
        g.out.push_back(graph.add_value(type));
        tape_values_[&n].push_back(g.out.back());
      }
    graph.nodes.push_back(std::move(g));
  }

  static size_t first_capture(const Node& n) {
    if (n.prim != Prim::scan) return 1;  // of a cond, after the condition
    const auto& a = n.as<attrs::scan>();
    return static_cast<size_t>(a.xs + a.carries);
  }

  /// Whether a capture is a constant that its body has for itself.
  static bool stands_in_body(const Tensor& t) { return is_small_constant(*t.node()); }

  /// Tapes become additional ys of the scan, stacked along axis 0 in the loop's forward order.
  static void extend_scan(const Node& n, const Tensors& tapes, GraphNode* g) {
    attrs::scan a = n.as<attrs::scan>();
    for (size_t i = 0; i < tapes.size(); ++i) {
      ++a.ys;
      a.y_axes.push_back(0);
      a.y_reversed.push_back(0);
    }
    g->attrs = AttrRef(new AttrsOf<attrs::scan>(std::move(a)));
  }

  /// Inputs of a scan's body: x slices, carries, captures, step index. Of a branch: captures.
  static GraphRef body_graph(const Body& body, const Tensors* tapes, bool is_scan) {
    Builder b;
    const size_t n = body.params.size() - (is_scan ? 1 : 0);
    for (size_t i = 0; i < n; ++i) b.cut(body.params[i]);
    for (const Tensor& t : body.captures)
      if (!stands_in_body(t)) b.cut(t);
    if (is_scan) b.cut(body.params.back());
    Tensors roots = body.results;
    if (tapes) roots.insert(roots.end(), tapes->begin(), tapes->end());
    b.build(roots, {});
    invariant(b.variables.empty() && b.draws.empty(),
              "a body reaches a variable that it has not captured");
    for (const Tensor& t : roots) b.graph.outputs.push_back(b.value(t));
    return std::make_shared<const Graph>(std::move(b.graph));
  }

  NodeIndex index_;
  std::vector<Seen> seen_;
  std::unordered_map<TensorKey, ValueId, TensorKeyHash> cuts_;
  std::unordered_map<const VariableState*, ValueId> by_state_;
  std::unordered_map<const VariableState*, const Node*> last_assign_;
  std::unordered_map<const Node*, const Node*> previous_;
  std::unordered_map<const Node*, size_t> place_;  // of an assign, in the order of all
  std::unordered_map<const Node*, Tensors> tapes_;
  std::unordered_map<const Node*, std::vector<ValueId>> tape_values_;
  std::vector<const Node*> order_;
  std::vector<ValueId> variable_values_, draw_values_;
};

}  // namespace

FunctionGraph to_function_graph(const Tensors& fed, const Tensors& outputs,
                                const Tensors& updates) {
  Builder b;
  for (const Tensor& t : fed) {
    if (t.defined())
      b.cut(t);
    else  // an entry that the caller left empty keeps its place
      b.graph.inputs.push_back(b.graph.add_value(TensorType(DType::bool_, {0})));
  }
  b.build(outputs, updates);
  for (const Tensor& t : outputs) b.graph.outputs.push_back(b.value(t));
  FunctionGraph p;
  for (const auto& [variable, value] : b.updated()) {
    p.updated.push_back(variable);
    b.graph.outputs.push_back(value);
  }
  p.overwritten = b.overwritten();
  p.graph = std::move(b.graph);
  p.n_fed = fed.size();
  p.n_outputs = outputs.size();
  p.variables = std::move(b.variables);
  p.draws = std::move(b.draws);
  return p;
}

}  // namespace horngate
