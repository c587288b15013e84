// Random tensors and variables.
#include "horngate/ops/random.h"

#include "call.h"
#include "function.h"
#include "sections.h"

namespace horngate::python {
namespace {

template <Tensor (*F)(const ShapeArg&, const RandomNormalOptions&)>
void normal(nb::module_& m, const char* name) {
  m.def(name, [name](Any shape, Any mean, Any stddev, Any dtype, Any seed) {
    Call call(name);
    const ShapeArg s = call.shape(shape);
    return call.result(F(s, {.mean = call.real(mean, "mean"),
                             .stddev = call.real(stddev, "stddev"),
                             .dtype = call.dtype(dtype),
                             .seed = call.optional_integer(seed, "seed")}));
  });
}

template <Variable (*F)(const Shape&, double, double, const RandomVariableOptions&)>
void random_variable(nb::module_& m, const char* name, const char* first, const char* second) {
  m.def(name, [=](Any shape, Any a, Any b, Any dtype, Any given_name, Any seed) {
    Call call(name);
    const Shape s = call.static_shape(shape);
    const double x = call.real(a, first), y = call.real(b, second);
    const RandomVariableOptions options{.dtype = call.dtype(dtype),
                                        .name = call.text(given_name, "name"),
                                        .seed = call.optional_integer(seed, "seed")};
    Variable made;
    {
      const Unlocked unlocked;  // the numbers are drawn now
      made = F(s, x, y, options);
    }
    return call.result(made);
  });
}

}  // namespace

void bind_random(nb::module_& m) {
  normal<random_normal>(m, "random_normal");
  normal<truncated_normal>(m, "truncated_normal");
  m.def("random_uniform", [](Any shape, Any minval, Any maxval, Any dtype, Any seed) {
    Call call("random_uniform");
    const ShapeArg s = call.shape(shape);
    return call.result(random_uniform(s, {.minval = call.real(minval, "minval"),
                                          .maxval = call.real(maxval, "maxval"),
                                          .dtype = call.dtype(dtype),
                                          .seed = call.optional_integer(seed, "seed")}));
  });
  m.def("random_binomial", [](Any shape, Any p, Any dtype, Any seed) {
    Call call("random_binomial");
    const ShapeArg s = call.shape(shape);
    return call.result(random_binomial(s, {.p = call.real(p, "p"),
                                           .dtype = call.dtype(dtype),
                                           .seed = call.optional_integer(seed, "seed")}));
  });
  random_variable<random_uniform_variable>(m, "random_uniform_variable", "low", "high");
  random_variable<random_normal_variable>(m, "random_normal_variable", "mean", "scale");
}

}  // namespace horngate::python
