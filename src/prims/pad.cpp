// pad: `low` and `high` elements of a constant value before and after each axis.
#include "ir/checked.h"
#include "prims/rules.h"

namespace horngate {
namespace {

using A = attrs::pad;

Types infer(const InferCall& c, const A& a) {
  rules::check_dense("pad", c);
  const Shape& x = c.in[0].shape;
  check(a.low.size() == x.ndim() && a.high.size() == x.ndim(), "pad",
        "low and high must have one entry per axis of x; got ", a.low, " and ", a.high,
        " for shape ", x, ".");
  Ints dims = x.dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    check(a.low[i] >= 0 && a.high[i] >= 0, "pad", "low and high must be at least 0; got ", a.low,
          " and ", a.high, ".");
    const int64_t margins = checked_add("pad", a.low[i], a.high[i]);
    if (dims[i] >= 0) dims[i] = checked_add("pad", dims[i], margins);
  }
  return {TensorType(c.in[0].dtype, Shape(std::move(dims)))};
}

// dx = dy without the margins
Tensors grad(const GradCall& c, const A& a) {
  Ints stops(a.high.size(), kToEnd);
  for (size_t i = 0; i < stops.size(); ++i)
    if (a.high[i] > 0) stops[i] = -a.high[i];
  return {prim::slice(c.dy[0], a.low, stops)};
}

}  // namespace
HORNGATE_PRIMITIVE(pad, {.infer = infer, .grad = grad})
}  // namespace horngate
