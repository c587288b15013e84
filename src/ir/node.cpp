// Making, naming and freeing nodes.
#include "ir/node.h"

#include <algorithm>

#include "ir/checked.h"
#include "ir/interrupt.h"
#include "ir/naming.h"
#include "ir/primitive.h"
#include "ir/scope.h"

namespace horngate {
namespace {

std::atomic<uint64_t> next_id{1};
std::atomic<int64_t> live_nodes{0};

}  // namespace

VariableState::VariableState(TensorType t, Array v)
    : id(next_id.fetch_add(1)), type(std::move(t)), value(std::move(v)) {}

uint64_t VariableState::next_version() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void retain(const Node* node) noexcept { node->refs.fetch_add(1, std::memory_order_relaxed); }

// Freeing a node releases its operands. Nodes that die meanwhile wait in a per-thread list that the
// outermost release empties, so a deep graph never needs a deep stack.
void release(const Node* node) noexcept {
  if (node->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  thread_local const Node* pending = nullptr;
  thread_local bool draining = false;
  node->wrapper =
      const_cast<Node*>(pending);  // a dead node has no wrapper: the field links the list
  pending = node;
  if (draining) return;
  draining = true;
  while (pending) {
    const Node* dead = pending;
    pending = static_cast<const Node*>(dead->wrapper);
    delete dead;
    live_nodes.fetch_sub(1, std::memory_order_relaxed);
  }
  draining = false;
}

int64_t live_node_count() { return live_nodes.load(); }

Tensor make_node(Prim prim, SmallVec<Tensor, 2> in, AttrRef attrs, SmallVec<BodyRef, 0> bodies,
                 std::string_view name) {
  stop_if_asked();  // gradients make many nodes
  const Primitive& p = primitive(prim);
  auto node = std::make_unique<Node>();
  node->prim = prim;
  SmallVec<TensorType, 3> types;
  for (const Tensor& t : in) {
    check(t.defined(), p.name, "an operand is empty (a gradient that is None?).");
    types.push_back(type_of(t));
    node->flags |= t.node()->flags;
    node->level = std::max(node->level, t.node()->level);
  }
  for (const BodyRef& body : bodies)
    for (const Tensor& r : body->results) node->flags |= r.node()->flags;
  if (prim == Prim::parameter) node->level = trace_level();
  if (prim == Prim::phase || prim == Prim::learning_phase) node->flags |= kUsesLearningPhase;
  if (p.flags & kEffect) node->flags |= kHasEffect;
  Types out;
  naming_errors({nullptr, called_function}, false, [&] {
    out = p.infer(InferCall{{types.data(), types.size()}, {bodies.data(), bodies.size()}},
                  attrs.get());
    for (const TensorType& t : out) check_size(p.name, t);
  });
  const auto has_it = [&](const Tensor& t) {
    return out.size() == 1 && t.node()->out.size() == 1 && t.node()->out[0] == out[0];
  };
  const auto like = std::find_if(in.begin(), in.end(), has_it);
  node->out = like == in.end() ? NodeTypes(std::move(out)) : like->node()->out;
  node->in = std::move(in);
  node->attrs = std::move(attrs);
  node->bodies = std::move(bodies);
  if (!name.empty())
    node->name.set_text(std::string(name));
  else if (!current_scope().empty())
    node->name.set_text(current_scope() + p.name);
  node->name.function = called_function;
  node->id = next_id.fetch_add(1, std::memory_order_relaxed);
  live_nodes.fetch_add(1, std::memory_order_relaxed);
  return Tensor::adopt(node.release());
}

uint64_t next_node_id() { return next_id.load(std::memory_order_relaxed); }

bool is_small_constant(const Node& node) {
  return node.prim == Prim::constant && node.as<attrs::constant>().value.size() <= 16;
}

Tensors outputs_of(const Tensor& first) {
  Tensors all;
  for (size_t i = 0; i < first.node()->out.size(); ++i)
    all.push_back(Tensor::share(first.node(), static_cast<uint32_t>(i)));
  return all;
}

std::string display_name(const Node& node) {
  if (node.name) return *node.name;
  return std::string(primitive(node.prim).name) + "_" + std::to_string(node.id);
}

DType Tensor::dtype() const {
  check(defined(), "tensor", "the tensor is empty.");
  return type_of(*this).dtype;
}

const Shape& Tensor::shape() const {
  check(defined(), "tensor", "the tensor is empty.");
  return type_of(*this).shape;
}

bool Tensor::is_sparse() const { return defined() && type_of(*this).sparse; }

std::string Tensor::name() const {
  if (!defined()) return {};
  std::string name = display_name(*node_);
  if (index_) name += ":" + std::to_string(index_);
  return name;
}

std::string Tensor::str() const {
  if (!defined()) return "<K.Tensor None>";
  return text_of("<K.", node_->prim == Prim::variable ? "Variable" : "Tensor", " \"", name(),
                 "\" shape=", shape(), " dtype=", dtype(), is_sparse() ? " sparse>" : ">");
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.str(); }

Variable::Variable(const Tensor& t) : Tensor(t) { variable_state(*this, "variable"); }

Array owned(Array&& value, DType dtype) {
  if (value.is_sparse())
    return value.cast(dtype).copy();  // parts may be views of the caller's memory
  if (value.dtype() != dtype) return value.cast(dtype);
  const bool is_ours = value.is_contiguous() && value.storage().is_ours() &&
                       value.storage().unique() && !value.engine_memory() &&
                       value.raw() == value.storage().data();
  return is_ours ? std::move(value) : value.copy();
}

VariableState& variable_state(const Tensor& t, std::string_view function) {
  check<TypeError>(t.defined() && t.node()->prim == Prim::variable, function,
                   "the tensor must come from variable(); got ",
                   t.defined() ? primitive(t.node()->prim).name : "an empty tensor", ".");
  return *t.node()->as<attrs::variable>().state;
}

}  // namespace horngate
