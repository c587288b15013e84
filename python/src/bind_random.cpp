// Random variables; the tensors are in bind_regular.cpp.
#include "horngate/ops/random.h"

#include "call.h"
#include "function.h"
#include "sections.h"

namespace horngate::python {
namespace {

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
  random_variable<random_uniform_variable>(m, "random_uniform_variable", "low", "high");
  random_variable<random_normal_variable>(m, "random_normal_variable", "mean", "scale");
}

}  // namespace horngate::python
