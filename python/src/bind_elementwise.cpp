// Element-wise functions, comparisons and reductions.
#include "horngate/ops/elementwise.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {
namespace {

template <Tensor (*F)(const Number&, const Number&)>
void binary(nb::module_& m, const char* name) {
  m.def(name, [name](Any x, Any y) {
    Call call(name);
    const auto [a, b] = call.numbers(x, y);
    return call.result(F(a, b));
  });
}

template <Tensor (*F)(const Tensor&, const ReduceOptions&)>
void reduction(nb::module_& m, const char* name) {
  m.def(name, [name](Any x, Any axis, Any keepdims) {
    Call call(name);
    const Tensor t = call.tensor(x);
    return call.result(F(t, {.axis = call.axis(axis), .keepdims = call.truth(keepdims)}));
  });
}

template <Tensor (*F)(const Tensor&, int64_t)>
void along_axis(nb::module_& m, const char* name) {
  m.def(name, [name](Any x, Any axis) {
    Call call(name);
    const Tensor t = call.tensor(x);
    return call.result(F(t, call.integer(axis, "axis")));
  });
}

}  // namespace

void bind_elementwise(nb::module_& m) {
  unary<square>(m, "square");
  unary<abs>(m, "abs");
  unary<sqrt>(m, "sqrt");
  unary<exp>(m, "exp");
  unary<log>(m, "log");
  unary<round>(m, "round");
  unary<sign>(m, "sign");
  unary<sin>(m, "sin");
  unary<cos>(m, "cos");
  binary<pow>(m, "pow");
  binary<maximum>(m, "maximum");
  binary<minimum>(m, "minimum");
  binary<equal>(m, "equal");
  binary<not_equal>(m, "not_equal");
  binary<greater>(m, "greater");
  binary<greater_equal>(m, "greater_equal");
  binary<less>(m, "less");
  binary<less_equal>(m, "less_equal");
  reduction<max>(m, "max");
  reduction<min>(m, "min");
  reduction<sum>(m, "sum");
  reduction<prod>(m, "prod");
  reduction<mean>(m, "mean");
  reduction<var>(m, "var");
  reduction<horngate::std>(m, "std");
  reduction<any>(m, "any");
  reduction<all>(m, "all");
  reduction<logsumexp>(m, "logsumexp");
  along_axis<cumsum>(m, "cumsum");
  along_axis<cumprod>(m, "cumprod");
  along_axis<argmax>(m, "argmax");
  along_axis<argmin>(m, "argmin");
  m.def("cast", [](Any x, Any dtype) {
    Call call("cast");
    return call.result(cast(call.tensor(x), dtype_from_python(dtype, "cast")));
  });
  m.def("clip", [](Any x, Any min_value, Any max_value) {
    Call call("clip");
    const Tensor t = call.tensor(x);
    const Number low = call.number(min_value, t.dtype());
    return call.result(clip(t, low, call.number(max_value, t.dtype())));
  });
}

}  // namespace horngate::python
