// Shape, rank, dtype and size of a tensor; the identity matrix.
#include "horngate/ops/values.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {
namespace {

FillOptions options_of(Call& call, handle dtype, handle name) {
  return {.dtype = call.dtype(dtype), .name = call.text(name, "name")};
}

}  // namespace

void bind_values(nb::module_& m) {
  m.def("eye", [](Any size, Any dtype, Any name) {
    Call call("eye");
    const auto [rows, cols] = call.several<2>(size, "size");
    return call.result(eye({rows, cols}, options_of(call, dtype, name)));
  });
  m.def("int_shape", [](Any x) {
    Call call("int_shape");
    if (is_tensor(x.ptr())) return nb::steal(merged_shape(x.ptr()));
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
