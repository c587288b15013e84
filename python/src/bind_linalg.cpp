// Products, transpose and lookup.
#include "horngate/ops/linalg.h"

#include "call.h"
#include "sections.h"

namespace horngate::python {

void bind_linalg(nb::module_& m) {
  m.def("dot", [](Any x, Any y) {
    Call call("dot");
    const auto [a, b] = call.tensors(x, y);
    return call.result(dot(a, b));
  });
  m.def("batch_dot", [](Any x, Any y, Any axes) {
    Call call("batch_dot");
    const auto [a, b] = call.tensors(x, y);
    return call.result(batch_dot(a, b, call.axis(axes, "axes")));
  });
  m.def("transpose", [](Any x) {
    Call call("transpose");
    return call.result(transpose(call.tensor(x)));
  });
  m.def("gather", [](Any reference, Any indices) {
    Call call("gather");
    const Tensor table = call.tensor(reference);
    return call.result(gather(table, call.tensor(indices)));
  });
}

}  // namespace horngate::python
