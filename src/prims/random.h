// The shape rule of the random primitives. Operand 0 is the draw, uint64 (2,): number of the call
// and step of a scan; numbers depend only on (seed, draw, step, element), see kernels/random.h.
#pragma once

#include "prims/rules.h"

namespace horngate::rules {

template <class A>
Types random(const InferCall& c, const A& a) {
  check_shape_operand(kName<A>, c, a.shape, 1);
  check(c.in[0].dtype == DType::uint64 && c.in[0].shape == Shape{2}, kName<A>,
        "draw must be uint64 of shape (2,); got ", c.in[0].dtype, " of shape ", c.in[0].shape, ".");
  Ints dims = a.shape;
  for (int64_t& d : dims) {
    check(d >= 0 || d == kFromOperand, kName<A>, "shape must not be negative; got ",
          shape_text(a.shape), ".");
    if (d == kFromOperand) d = Shape::kUnknown;
  }
  return {TensorType(a.dtype, Shape(std::move(dims)))};
}

template <class A>
Types random_float(const InferCall& c, const A& a) {
  check_kind(kName<A>, "dtype", a.dtype, Kind::floats);
  return random(c, a);
}

}  // namespace horngate::rules
