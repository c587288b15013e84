// map, fold, and functions that only mark a value.
#include "horngate/ops/functional.h"

#include <optional>

#include "api/args.h"
#include "api/loops.h"
#include "api/shapes.h"
#include "horngate/ops/control.h"
#include "prims/bodies.h"

namespace horngate {
namespace {

/// A name scope, if there is a name.
std::optional<NameScope> scope_of(const std::string& name) {
  if (name.empty()) return std::nullopt;
  return std::optional<NameScope>(std::in_place, name);
}

Tensor sequence_of(std::string_view function, const Tensor& elems) {
  const Tensor x = dense_operand(function, elems, "elems");
  check(x.ndim() >= 1, function, "elems must have at least 1 dimension; got shape ", x.shape(),
        ".");
  return x;
}

Tensor checked_result(std::string_view function, const Tensor& y) {
  check<TypeError>(y.defined(), function, "fn must return a tensor; got an empty one.");
  return dense_operand(function, y, "the result of fn");
}

Tensor fold(const char* function, const FoldFunction& fn, const Tensor& elems, const FoldOptions& o,
            bool backwards) {
  const auto scope = scope_of(o.name);
  ScanSpec spec{.xs = {sequence_of(function, elems)},
                .x_axes = {0},
                .x_reversed = {backwards},
                .inits = {},
                .y_axes = {},
                .y_reversed = {}};
  Tensor& x = spec.xs[0];
  if (o.initializer.defined()) {
    spec.inits = {dense_operand(function, o.initializer, "initializer")};
  } else {
    check(x.shape().dim(0) != 0, function,
          "elems must not be empty without an initializer; got shape ", x.shape(), ".");
    spec.inits = {element_at(x, 0, backwards ? -1 : 0)};
    x = prim::slice_axis(x, 0, backwards ? 0 : 1, backwards ? -1 : kToEnd);
  }
  return make_loop(function, spec, [&](const Tensors& xs, const Tensors& carries, const Tensor&) {
    const Tensor acc = checked_result(function, users([&] { return fn(carries[0], xs[0]); }));
    check<TypeError>(acc.dtype() == carries[0].dtype(), function,
                     "fn must keep the dtype of the accumulator, ", carries[0].dtype(), "; got ",
                     acc.dtype(), ".");
    check(acc.ndim() == carries[0].ndim(), function,
          "fn must keep the rank of the accumulator of shape ", carries[0].shape(), "; got shape ",
          acc.shape(), ".");
    return StepResult{{acc}, {}};
  })[0];
}

}  // namespace

// The steps of an inner loop are numbered across all steps of the outer one: outer * length +
// inner.
Tensors make_loop(const std::string& function, const ScanSpec& spec, const StepFunction& step) {
  const Tensor outer = current_step();
  if (!outer.defined()) return make_scan(function, spec, step);
  const Tensor length = spec.xs.empty() ? prim::constant(Array(spec.length))
                                        : prim::count(spec.xs[0], {spec.x_axes[0]}, DType::int64);
  const Tensor before = prim::mul(outer, length);
  return make_scan(function, spec, [&](const Tensors& x, const Tensors& carries, const Tensor& i) {
    set_current_step(prim::add(before, i));
    return step(x, carries, i);
  });
}

Tensors map_fn(const std::function<Tensors(const Tensors&)>& fn, const Tensors& elems,
               const MapFnOptions& o) {
  const CalledAs called(__func__);
  constexpr const char* kName = "map_fn";
  check(!elems.empty(), kName, "elems must hold at least one tensor.");
  const auto scope = scope_of(o.name);
  ScanSpec spec;
  for (const Tensor& e : elems) {
    spec.xs.push_back(sequence_of(kName, e));
    spec.x_axes.push_back(0);
    spec.x_reversed.push_back(0);
  }
  for (const Tensor& x : spec.xs) {
    const int64_t a = spec.xs[0].shape().dim(0), b = x.shape().dim(0);
    check(a < 0 || b < 0 || a == b, kName,
          "elems must have the same number of elements; got shapes ", spec.xs[0].shape(), " and ",
          x.shape(), ".");
  }
  // The number of results is only known once fn has been called; the spec is read after that.
  return make_loop(kName, spec, [&](const Tensors& xs, const Tensors&, const Tensor&) {
    StepResult r;
    for (const Tensor& y : users([&] { return fn(xs); })) {
      const Tensor value = checked_result(kName, y);
      r.ys.push_back(o.dtype ? prim::cast(value, *o.dtype) : value);
      spec.y_axes.push_back(0);
      spec.y_reversed.push_back(0);
    }
    check(!r.ys.empty(), kName, "fn must return at least one tensor.");
    return r;
  });
}

Tensor map_fn(const std::function<Tensor(const Tensor&)>& fn, const Tensor& elems,
              const MapFnOptions& o) {
  const CalledAs called(__func__);
  const auto one = [&](const Tensors& xs) { return Tensors{fn(xs[0])}; };
  return map_fn(std::function<Tensors(const Tensors&)>(one), Tensors{elems}, o)[0];
}

Tensor foldl(const FoldFunction& fn, const Tensor& elems, const FoldOptions& options) {
  const CalledAs called(__func__);
  return fold("foldl", fn, elems, options, false);
}

Tensor foldr(const FoldFunction& fn, const Tensor& elems, const FoldOptions& options) {
  const CalledAs called(__func__);
  return fold("foldr", fn, elems, options, true);
}

Tensor stop_gradient(const Tensor& variables) {
  const CalledAs called(__func__);
  return prim::stop_gradient(dense_operand("stop_gradient", variables, "variables"));
}

Tensor print_tensor(const Tensor& x, std::string_view message) {
  const CalledAs called(__func__);
  return emit(attrs::print{.message = std::string(message)}, {dense_operand("print_tensor", x)});
}

}  // namespace horngate
