// scan: a loop over time. At iteration i, sequence k is read (and stacked result k written) at i, or at length - 1 - i
// if reversed. Operands: xs.., initial carries.., captures..; results: final carries.., ys... Length 0 gives final =
// initial and empty ys.
#include "prims/scan.h"

#include <algorithm>

#include "prims/bodies.h"
#include "prims/build.h"

namespace horngate {
namespace {

using A = attrs::scan;

int64_t length_of(const InferCall& c, const A& a) {
  int64_t length = a.length;
  for (int64_t i = 0; i < a.xs; ++i) {
    const int64_t d = c.in[i].shape.dim(static_cast<size_t>(a.x_axes[i]));
    check(length < 0 || d < 0 || d == length, "scan", "sequences must have the same length; got ",
          length, " and ", d, ".");
    if (d >= 0) length = d;
  }
  return length;
}

Types infer(const InferCall& c, const A& a) {
  const Body& body = *c.bodies[0];
  const int64_t length = length_of(c, a);
  Types out;
  for (int64_t i = 0; i < a.carries; ++i)
    out.push_back(join("scan", c.in[a.xs + i], type_of(body.results[i])));
  for (int64_t i = 0; i < a.ys; ++i) {
    TensorType t = type_of(body.results[a.carries + i]);
    t.shape.dims().insert(t.shape.dims().begin() + a.y_axes[i], length);
    out.push_back(t);
  }
  return out;
}

/// Without this check the first call would fail, with a less helpful message, if a step changes the size of a state. A
/// size of 1 may grow: it is repeated before the loop starts.
void check_keeps_shape(const std::string& function, size_t state, const Shape& before,
                       const Shape& after) {
  if (before.dims().size() != after.dims().size()) return;  // join reports it
  for (size_t i = 0; i < before.dims().size(); ++i) {
    const int64_t a = before.dim(i), b = after.dim(i);
    check(a < 0 || b < 0 || a == 1 || a == b, function,
          "the step function must keep the shape of state ", state, ", ", before, "; got ", after,
          ".");
  }
}

TensorType slice_type(const TensorType& t, int64_t axis) {
  TensorType s = t;
  s.shape.dims().erase(s.shape.dims().begin() + axis);
  return s;
}

}  // namespace

Tensors close_scan(const ScanSpec& spec, Tensors params, Tensors results, const IsInside& inside) {
  auto body = make_ref<Body>();
  body->captures = find_captures(results, params, inside);
  body->params = std::move(params);
  body->results = std::move(results);
  A a;
  a.xs = static_cast<int64_t>(spec.xs.size());
  a.carries = static_cast<int64_t>(spec.inits.size());
  a.ys = static_cast<int64_t>(body->results.size()) - a.carries;
  a.length = spec.length;
  a.x_axes = spec.x_axes;
  a.x_reversed = spec.x_reversed;
  a.y_axes = spec.y_axes;
  a.y_reversed = spec.y_reversed;
  SmallVec<Tensor, 2> in(spec.xs.begin(), spec.xs.end());
  for (const Tensor& t : spec.inits) in.push_back(t);
  for (const Tensor& t : body->captures) in.push_back(t);
  return outputs_of(emit(std::move(a), std::move(in), {BodyRef(body.get())}));
}

namespace {

/// The first id of a body. Constants have no level, so those that the step made are known by their later ids.
uint64_t begin_of(const Tensors& params) {
  uint64_t begin = UINT64_MAX;
  for (const Tensor& p : params) begin = std::min(begin, p.node()->id);
  return begin;
}

/// Calls the step, which may trace loops of its own.
StepResult call_step(const StepFunction& step, const Tensors& xs, const Tensors& carries,
                     const Tensor& index) {
  const Tensor outer_step = current_step();
  set_current_step(index);
  try {
    StepResult r = step(xs, carries, index);
    set_current_step(outer_step);
    return r;
  } catch (...) {
    set_current_step(outer_step);
    throw;
  }
}

}  // namespace

Tensors make_scan(const std::string& function, const ScanSpec& spec, const StepFunction& step) {
  const TraceScope trace;
  Tensors xs;
  for (size_t i = 0; i < spec.xs.size(); ++i)
    xs.push_back(make_parameter(slice_type(type_of(spec.xs[i]), spec.x_axes[i]), trace.level()));
  Types types;
  for (const Tensor& t : spec.inits) types.push_back(type_of(t));
  // A carry must keep its type from step to step. Where the step widens a dimension to None it is traced again, on the
  // wider parameter: what it made of the first size it saw (the count of a mean, where a slice ends) would be wrong.
  for (;;) {
    Tensors carries;
    for (const TensorType& t : types) carries.push_back(make_parameter(t, trace.level()));
    const Tensor index = make_parameter(TensorType(DType::int64, {}), trace.level());
    StepResult r = call_step(step, xs, carries, index);
    check(r.carries.size() == carries.size(), function, "the step function must return ",
          carries.size(), " states; got ", r.carries.size(), ".");
    Tensors results = std::move(r.carries);
    results.insert(results.end(), r.ys.begin(), r.ys.end());
    refuse_updates(function, "the step function", results, index.node()->id);
    bool is_wider = false;
    for (size_t i = 0; i < carries.size(); ++i) {
      check_keeps_shape(function, i, types[i].shape, results[i].shape());
      const TensorType wide = join(function, types[i], type_of(results[i]));
      is_wider |= !(wide == types[i]);
      types[i] = wide;
    }
    if (is_wider) continue;
    Tensors params = xs;
    params.insert(params.end(), carries.begin(), carries.end());
    params.push_back(index);
    const IsInside inside = [level = trace.level(), begin = begin_of(params)](const Node& n) {
      return n.prim == Prim::constant ? n.id >= begin : n.level >= level;
    };
    return close_scan(spec, std::move(params), std::move(results), inside);
  }
}

namespace {

// The gradient is a scan in the opposite direction. Its sequences are the tapes of forward values, the
// forward sequences and the cotangents of the ys; its carries the cotangents of the forward carries and one
// accumulator per capture; its ys the cotangents of the forward sequences.
Tensors grad(const GradCall& c, const A& a) {
  const Node& scan = c.node;
  const std::span<const Tensor> dy = c.dy;
  const Body& body = *scan.bodies[0];
  const uint32_t level = body.params.back().node()->level;
  const auto n_x = static_cast<size_t>(a.xs), n_c = static_cast<size_t>(a.carries),
             n_y = static_cast<size_t>(a.ys);
  const Tensor self = Tensor::share(&scan);

  ScanSpec spec;
  Tensors params;  // of the backward body
  const auto add_sequence = [&](const Tensor& outer, int64_t axis, bool reversed, Tensor inner) {
    spec.xs.push_back(outer);
    spec.x_axes.push_back(axis);
    spec.x_reversed.push_back(reversed);
    params.push_back(std::move(inner));
  };

  // Cotangents of what the body computes, as tensors of the backward body.
  Tensors roots, seeds;
  for (size_t i = 0; i < n_y; ++i) {
    if (!dy[n_c + i].defined()) continue;
    const Tensor slice = make_parameter(slice_type(type_of(dy[n_c + i]), a.y_axes[i]), level);
    add_sequence(dy[n_c + i], a.y_axes[i], !a.y_reversed[i], slice);
    roots.push_back(body.results[n_c + i]);
    seeds.push_back(slice);
  }
  for (const TapeCotangent& t : c.tapes) {
    const Tensor slice = make_parameter(slice_type(type_of(t.dy), 0), level);
    add_sequence(t.dy, 0, true, slice);
    roots.push_back(t.inner);
    seeds.push_back(slice);
  }
  std::vector<size_t> live_carries;
  Tensors d_carries;
  for (size_t i = 0; i < n_c; ++i) {
    if (!is_float(scan.out[i].dtype)) continue;
    const Tensor init =
        dy[i].defined() ? dy[i] : prim::zeros_like(Tensor::share(&scan, static_cast<uint32_t>(i)));
    live_carries.push_back(i);
    d_carries.push_back(make_parameter(scan.out[i], level));
    spec.inits.push_back(init);
    roots.push_back(body.results[i]);
    seeds.push_back(d_carries.back());
  }

  // Differentiate the body once; references to forward values are cut afterwards.
  Tensors targets(body.params.begin(), body.params.begin() + static_cast<int64_t>(n_x + n_c));
  targets.insert(targets.end(), body.captures.begin(), body.captures.end());
  const Tensor first = make_parameter(TensorType(DType::int64, {}), level);
  const uint64_t backward_begins = first.node()->id;
  const Tensors d = c.reverse(roots, seeds, targets, true);

  Tensors results;
  for (size_t i : live_carries)
    results.push_back(d[n_x + i].defined() ? d[n_x + i] : prim::zeros_like(body.params[n_x + i]));
  std::vector<size_t> live_captures;
  for (size_t i = 0; i < body.captures.size(); ++i) {
    const Tensor& dc = d[n_x + n_c + i];
    if (!dc.defined()) continue;
    live_captures.push_back(i);
    const Tensor& outer = scan.in[n_x + n_c + i];
    const Tensor sum = make_parameter(type_of(outer), level);
    d_carries.push_back(sum);
    spec.inits.push_back(prim::zeros_like(outer));
    results.push_back(prim::add(sum, dc));
  }
  std::vector<size_t> live_xs;
  for (size_t i = 0; i < n_x; ++i) {
    if (!d[i].defined()) continue;
    live_xs.push_back(i);
    results.push_back(d[i]);
    spec.y_axes.push_back(a.x_axes[i]);
    spec.y_reversed.push_back(!a.x_reversed[i]);
  }

  // Forward values that the backward body needs become sequences: the xs themselves, or tapes.
  const IsInside is_backward = [&, begin = begin_of(body.params)](const Node& n) {
    if (n.prim == Prim::constant) return n.id >= begin;
    // A tape of a scan in the forward body is itself a forward value.
    return n.level >= level && is_made_since(backward_begins, n);
  };
  Tensors known = params;
  known.insert(known.end(), d_carries.begin(), d_carries.end());
  int64_t length = a.length;
  for (size_t i = 0; i < n_x; ++i)
    length = std::max(length, scan.in[i].shape().dim(static_cast<size_t>(a.x_axes[i])));
  for (const Tensor& t : find_captures(results, known, is_backward)) {
    if (t.node()->level < level) continue;  // a true capture
    size_t x = 0;
    while (x < n_x && !t.same_as(body.params[x])) ++x;
    if (x < n_x)
      add_sequence(scan.in[x], a.x_axes[x], !a.x_reversed[x], t);
    else
      add_sequence(emit(attrs::tape{.length = length, .inner = {t}}, {self}), 0, true, t);
  }
  if (spec.xs.empty() && length < 0)  // any sequence can tell how long the loop is
    add_sequence(scan.in[0], a.x_axes[0], !a.x_reversed[0],
                 make_parameter(slice_type(type_of(scan.in[0]), a.x_axes[0]), level));
  if (spec.xs.empty()) spec.length = length;
  params.insert(params.end(), d_carries.begin(), d_carries.end());
  params.push_back(first);  // the step index, which the backward body does not use
  const Tensors out = close_scan(spec, params, results, is_backward);

  Tensors dx(scan.in.size());
  size_t at = 0;
  // The loop may have repeated an initial state along axes of size 1.
  for (size_t i : live_carries) dx[n_x + i] = prim::sum_to_like(out[at++], scan.in[n_x + i]);
  for (size_t i : live_captures) dx[n_x + n_c + i] = out[at++];
  for (size_t i : live_xs) dx[i] = out[at++];
  return dx;
}

}  // namespace

HORNGATE_PRIMITIVE(scan, {.infer = infer, .grad = grad})

}  // namespace horngate
