// Zeros, ones and their like; asking for shape, rank, dtype and size.
#include "horngate/ops/values.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {
namespace {

FillOptions options_of(Call& call, handle dtype, handle name) {
  return {.dtype = call.dtype(dtype), .name = call.text(name, "name")};
}

template <Tensor (*F)(const ShapeArg&, const FillOptions&)>
void filled(nb::module_& m, const char* name) {
  m.def(name, [name](Any shape, Any dtype, Any given_name) {
    Call call(name);
    const ShapeArg s = call.shape(shape);
    return call.result(F(s, options_of(call, dtype, given_name)));
  });
}

template <Tensor (*F)(const Tensor&, const FillOptions&)>
void filled_like(nb::module_& m, const char* name) {
  m.def(name, [name](Any x, Any dtype, Any given_name) {
    Call call(name);
    const Tensor t = call.tensor(x);
    return call.result(F(t, options_of(call, dtype, given_name)));
  });
}

}  // namespace

void bind_values(nb::module_& m) {
  filled<zeros>(m, "zeros");
  filled<ones>(m, "ones");
  filled_like<zeros_like>(m, "zeros_like");
  filled_like<ones_like>(m, "ones_like");
  m.def("eye", [](Any size, Any dtype, Any name) {
    Call call("eye");
    const auto [rows, cols] = call.several<2>(size, "size");
    return call.result(eye({rows, cols}, options_of(call, dtype, name)));
  });
  m.def("identity", [](Any x, Any name) {
    Call call("identity");
    const Tensor t = call.tensor(x);
    return call.result(identity(t, call.text(name, "name")));
  });
  m.def("shape", [](Any x) {
    Call call("shape");
    return call.result(shape(call.tensor(x)));
  });
  m.def("size", [](Any x, Any name) {
    Call call("size");
    const Tensor t = call.tensor(x);
    return call.result(size(t, call.text(name, "name")));
  });
  m.def("int_shape", [](Any x) {
    Call call("int_shape");
    return nb::steal(shape_tuple(call.tensor(x).shape()));
  });
  m.def("count_params", [](Any x) {
    Call call("count_params");
    return count_params(call.tensor(x));
  });
  m.def("ndim", [](Any x) {
    Call call("ndim");
    return call.tensor(x).ndim();
  });
  m.def("dtype", [](Any x) {
    Call call("dtype");
    return name_of(call.tensor(x).dtype());
  });
}

}  // namespace horngate::python
