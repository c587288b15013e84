// concat: the operands one after the other along an axis.
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::concat;

Types infer(const InferCall& c, const A& a) {
  check(!c.in.empty(), "concat", "there must be at least one operand.");
  rules::check_dense("concat", c);
  const TensorType& first = c.in[0];
  const int64_t axis = normalize_axis("concat", a.axis, first.shape);
  Ints dims = first.shape.dims();
  for (const TensorType& t : c.in.subspan(1)) {
    check<TypeError>(t.dtype == first.dtype, "concat", "operands must have the same dtype; got ",
                     first.dtype, " and ", t.dtype, ".");
    check(t.shape.ndim() == dims.size(), "concat",
          "operands must have the same number of dimensions; got shapes ", first.shape, " and ",
          t.shape, ".");
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t d = t.shape.dim(i);
      if (static_cast<int64_t>(i) == axis) {
        dims[i] = dims[i] < 0 || d < 0 ? Shape::kUnknown : dims[i] + d;
        continue;
      }
      const int64_t both = rules::same_dim(dims[i], d);
      check(both != rules::kConflict, "concat", "shapes must agree except on axis=", axis, "; got ",
            first.shape, " and ", t.shape, ", which differ on axis ", i, ".");
      dims[i] = both;
    }
  }
  return {TensorType(first.dtype, Shape(std::move(dims)))};
}

/// Part i of dy when sizes around it are unknown, with bounds computed from shapes. `before` is the sum of the
/// shapes of all parts before it.
Tensor slice_between(const GradCall& c, size_t i, int64_t axis, const Tensor& before) {
  const Tensor& dy = c.dy[0];
  const auto rank = static_cast<int64_t>(dy.ndim());
  Array only = Array::zeros(DType::int64, {rank});
  only.data<int64_t>()[axis] = 1;
  const Tensor starts = prim::mul(before, prim::constant(only));
  const Tensor stops = prim::add(starts, prim::shape_of(c.in(i)));
  attrs::slice a{.starts = Ints(rank, 0), .stops = Ints(rank, kToEnd), .steps = Ints(rank, 1)};
  a.starts[axis] = a.stops[axis] = kFromOperand;
  return emit(std::move(a), {dy, starts, stops});
}

/// a + b, kUnknown when one of them is.
int64_t total(int64_t a, int64_t b) { return a < 0 || b < 0 ? Shape::kUnknown : a + b; }

// dx_i = its part of dy; counted from the end if the size of what comes before is unknown
Tensors grad(const GradCall& c, const A& a) {
  const int64_t axis = normalize_axis("concat", a.axis, c.in(0).shape());
  const size_t n = c.node.in.size();
  const auto size_of = [&](size_t i) { return c.in(i).shape().dim(static_cast<size_t>(axis)); };
  std::vector<int64_t> behind(n, 0);  // elements after each part
  for (size_t i = n; i-- > 1;) behind[i - 1] = total(behind[i], size_of(i));
  Tensors dx;
  int64_t before = 0;
  Tensor shapes_before;  // summed up to part `summed`
  size_t summed = 0;
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = size_of(i), after = behind[i];
    if (size == 0)
      dx.push_back(prim::zeros_like(c.in(i)));
    else if (before >= 0 && size >= 0)
      dx.push_back(prim::slice_axis(c.dy[0], axis, before, before + size));
    else if (before >= 0 && after >= 0)
      dx.push_back(prim::slice_axis(c.dy[0], axis, before, after ? -after : kToEnd));
    else if (size >= 0 && after >= 0)
      dx.push_back(prim::slice_axis(c.dy[0], axis, -size - after, after ? -after : kToEnd));
    else {
      if (!shapes_before.defined())
        shapes_before =
            prim::constant(Array::zeros(DType::int64, {static_cast<int64_t>(c.dy[0].ndim())}));
      for (; summed < i; ++summed)
        shapes_before = prim::add(shapes_before, prim::shape_of(c.in(summed)));
      dx.push_back(slice_between(c, i, axis, shapes_before));
    }
    // Here it infers as None although the operand's size is known.
    if (size > 0 && dx.back().shape().dim(axis) < 0)
      dx.back() = prim::reshape_like(dx.back(), c.in(i));
    before = total(before, size);
  }
  return dx;
}

}  // namespace
HORNGATE_PRIMITIVE(concat, {.infer = infer, .grad = grad})
}  // namespace horngate
