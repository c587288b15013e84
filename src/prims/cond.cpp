// cond(condition, captures of then.., captures of else..): the results of one of two bodies.
#include "prims/cond.h"

#include <unordered_set>

#include "ir/tensor_key.h"
#include "prims/bodies.h"

namespace horngate {
namespace {

Types infer(const InferCall& c, const attrs::cond&) {
  check(c.in[0].dtype == DType::bool_ && c.in[0].shape.ndim() == 0, "cond",
        "the condition must be a bool scalar; got ", c.in[0].str(), ".");
  Types out;
  for (size_t i = 0; i < c.bodies[0]->results.size(); ++i)
    out.push_back(join("cond", type_of(c.bodies[0]->results[i]), type_of(c.bodies[1]->results[i])));
  return out;
}

BodyRef close_branch(Tensors results, const IsInside& inside) {
  auto body = make_ref<Body>();
  body->captures = find_captures(results, {}, inside);
  body->results = std::move(results);
  return BodyRef(body.get());
}

Tensors close_cond(const Tensor& condition, BodyRef then_body, BodyRef else_body) {
  SmallVec<Tensor, 2> in{condition};
  for (const BodyRef& b : {then_body, else_body})
    for (const Tensor& t : b->captures) in.push_back(t);
  return outputs_of(emit(attrs::cond{}, std::move(in), {then_body, else_body}));
}

/// The nodes of a branch.
std::unordered_set<const Node*> nodes_of(const Body& body) {
  std::unordered_set<TensorKey, TensorKeyHash> captured;
  for (const Tensor& t : body.captures) captured.insert(key_of(t));
  std::unordered_set<const Node*> nodes;
  Tensors stack = body.results;
  while (!stack.empty()) {
    const Tensor t = std::move(stack.back());
    stack.pop_back();
    if (captured.count(key_of(t)) || !nodes.insert(t.node()).second) continue;
    for (const Tensor& operand : t.node()->in) stack.push_back(operand);
  }
  return nodes;
}

// Each branch of the gradient repeats its forward branch as far as needed and gives a cotangent for every
// capture: zeros for those of the other branch.
Tensors grad(const GradCall& c, const attrs::cond&) {
  const Body& then_body = *c.node.bodies[0];
  const Body& else_body = *c.node.bodies[1];
  const size_t n_then = then_body.captures.size(), n = n_then + else_body.captures.size();
  std::vector<size_t> live;
  for (size_t i = 0; i < n; ++i)
    if (is_float(c.in(1 + i).dtype())) live.push_back(i);
  Tensors dx(c.node.in.size());
  if (live.empty()) return dx;

  const auto branch = [&](const Body& body, size_t first) {
    const uint64_t begin = next_node_id();
    Tensors roots, seeds;
    for (size_t i = 0; i < body.results.size(); ++i) {
      if (!c.dy[i].defined()) continue;
      roots.push_back(body.results[i]);
      seeds.push_back(c.dy[i]);
    }
    const Tensors d = c.reverse(roots, seeds, body.captures, true);
    Tensors results;
    for (size_t i : live) {
      const bool own = i >= first && i - first < d.size() && d[i - first].defined();
      results.push_back(own ? d[i - first] : prim::zeros_like(c.in(1 + i)));
    }
    // Inside are the nodes made for it and the forward branch. What the gradient needs may be older than both, and then
    // stays outside: where dy is -q, the gradient of e - e needs q.
    const std::unordered_set<const Node*> forward = nodes_of(body);
    return close_branch(std::move(results),
                        [&](const Node& node) { return node.id >= begin || forward.count(&node); });
  };
  const BodyRef then_grad = branch(then_body, 0);
  const BodyRef else_grad = branch(else_body, n_then);
  const Tensors out = close_cond(c.in(0), then_grad, else_grad);
  for (size_t k = 0; k < live.size(); ++k) dx[1 + live[k]] = out[k];
  return dx;
}

}  // namespace

HORNGATE_PRIMITIVE(cond, {.infer = infer, .grad = grad})

Tensors make_cond(const std::string& function, const Tensor& condition,
                  const std::function<Tensors()>& then_branch,
                  const std::function<Tensors()>& else_branch) {
  const auto trace = [&](const std::function<Tensors()>& branch) {
    const uint64_t begin = next_node_id();
    Tensors results = branch();
    refuse_updates(function, "a branch", results, begin);
    return close_branch(std::move(results),
                        [begin](const Node& n) { return is_made_since(begin, n); });
  };
  const BodyRef then_body = trace(then_branch);
  const BodyRef else_body = trace(else_branch);
  check(then_body->results.size() == else_body->results.size(), function,
        "both branches must give the same number of values; got ", then_body->results.size(),
        " and ", else_body->results.size(), ".");
  for (size_t i = 0; i < then_body->results.size(); ++i) {
    const Shape& a = then_body->results[i].shape();
    const Shape& b = else_body->results[i].shape();
    bool fits = a.ndim() == b.ndim();
    for (size_t k = 0; fits && k < a.ndim(); ++k)
      fits = a.dim(k) == b.dim(k) || a.dim(k) < 0 || b.dim(k) < 0;
    check(fits, function, "both branches must give the same shape; got ", a, " and ", b, ".");
  }
  return close_cond(condition, then_body, else_body);
}

}  // namespace horngate
