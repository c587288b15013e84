// Zeros that a graph shows by itself.
#include "grad/known_zero.h"

#include <algorithm>

#include "ir/primitive.h"

namespace horngate {
namespace {

bool is_zero(const Array& value) {
  if (value.is_sparse()) return false;
  const auto* bytes = static_cast<const std::byte*>(value.raw());
  return std::all_of(bytes, bytes + value.nbytes(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

bool KnownZero::at(const Tensor& t) const {
  const auto it = known_.find(t.node());
  return it != known_.end() && it->second[t.index()];
}

bool KnownZero::from_operands(const Node& n, uint32_t index) {
  const auto in = [&](size_t i) { return at(n.in[i]); };
  switch (n.prim) {
    case Prim::constant: return is_zero(n.as<attrs::constant>().value);
    case Prim::neg:
    case Prim::abs:
    case Prim::sign:
    case Prim::sqrt:
    case Prim::sin:
    case Prim::tanh:
    case Prim::expm1:
    case Prim::log1p:
    case Prim::erf:
    case Prim::floor:
    case Prim::round:
    case Prim::cast:
    case Prim::stop_gradient:
    case Prim::print:
    case Prim::after:
    case Prim::div:
    case Prim::reshape:
    case Prim::expand_dims:
    case Prim::squeeze:
    case Prim::broadcast:
    case Prim::sum_to:
    case Prim::transpose:
    case Prim::slice:
    case Prim::reverse:
    case Prim::gather:
    case Prim::cumsum:
    case Prim::reduce_sum: return in(0);
    case Prim::pad: return in(0) && n.as<attrs::pad>().value == 0;
    case Prim::add:
    case Prim::sub:
    case Prim::maximum:
    case Prim::minimum:
    case Prim::phase: return in(0) && in(1);
    case Prim::select: return in(1) && in(2);
    case Prim::mul:
    case Prim::dot_general:
    case Prim::sparse_dot:
    case Prim::conv:
    case Prim::conv_input_grad:
    case Prim::conv_filter_grad: return in(0) || in(1);
    case Prim::scatter_add: return in(1);
    case Prim::pool_grad: return in(2);
    case Prim::batch_norm_grad: return in(4);
    case Prim::concat:
      return std::all_of(n.in.begin(), n.in.end(), [&](const Tensor& t) { return at(t); });
    case Prim::cond:
      return (*this)(n.bodies[0]->results[index]) && (*this)(n.bodies[1]->results[index]);
    default: return false;
  }
}

bool KnownZero::operator()(const Tensor& t) {
  if (!t.defined()) return false;
  std::vector<const Node*> stack{t.node()}, fresh;
  const auto visit = [&](const Node* n) {
    return known_.emplace(n, std::vector<uint8_t>(n->out.size(), 0)).second;
  };
  if (!visit(t.node())) return at(t);
  while (!stack.empty()) {
    const Node* n = stack.back();
    stack.pop_back();
    fresh.push_back(n);
    for (const Tensor& operand : n->in)
      if (visit(operand.node())) stack.push_back(operand.node());
  }
  // Operands are older than their node.
  std::sort(fresh.begin(), fresh.end(), [](const Node* a, const Node* b) { return a->id < b->id; });
  for (const Node* n : fresh)
    for (uint32_t i = 0; i < n->out.size(); ++i) {
      const bool zero = from_operands(*n, i);
      known_[n][i] = zero;
    }
  return at(t);
}

}  // namespace horngate
