// Products, transpose and lookup.
#include "horngate/ops/linalg.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {

void bind_linalg(nb::module_& m) {
  m.def("dot", [](handle x, handle y) {
    Call call("dot");
    const auto [a, b] = call.tensors(x, y);
    return call.result(dot(a, b));
  });
  m.def("batch_dot", [](handle x, handle y, handle axes) {
    Call call("batch_dot");
    const auto [a, b] = call.tensors(x, y);
    return call.result(batch_dot(a, b, call.axis(axes, "axes")));
  });
  m.def("transpose", [](handle x) {
    Call call("transpose");
    return call.result(transpose(call.tensor(x)));
  });
  m.def("gather", [](handle reference, handle indices) {
    Call call("gather");
    const Tensor table = call.tensor(reference);
    return call.result(gather(table, call.tensor(indices)));
  });
}

}  // namespace horngate::python
